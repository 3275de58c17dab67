import type { parse } from '@babel/parser';
import { type DocComment, parseDocComment } from './doc-comment.js';

type Program = ReturnType<typeof parse>['program'];
export type Statement = Program['body'][number];
type Kind<Name> = Extract<Statement, { type: Name }>;
type InterfaceMember = Kind<'TSInterfaceDeclaration'>['body']['body'][number];
type ClassMember = Kind<'ClassDeclaration'>['body']['body'][number];

/** An exported function, class, interface, type or value. */
export interface Declaration {
  name: string;
  kind: 'function' | 'class' | 'interface' | 'type' | 'value';
  /** As in the source, without the bodies of functions and without members. */
  signature: string;
  members: Member[];
  /** Names of the interfaces and classes whose members it has, too. */
  parents: string[];
  doc: DocComment | undefined;
}

export interface Member {
  name: string;
  kind: 'method' | 'property';
  optional: boolean;
  /** A method as in the source without its body, or the type of a property. */
  signature: string;
  doc: DocComment | undefined;
}

interface Node {
  start?: number | null | undefined;
  end?: number | null | undefined;
  leadingComments?: readonly { type: string; value: string; end?: number | undefined }[] | null | undefined;
}

/** Reads the declarations of one source file. */
export class DeclarationReader {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** What `statement` declares; `outer` is the statement that has its comment. */
  read(statement: Statement, outer: Node = statement as Node): Declaration[] {
    const doc = docOf(outer);
    switch (statement.type) {
      case 'FunctionDeclaration':
      case 'TSDeclareFunction': {
        const body = statement.type === 'FunctionDeclaration' ? statement.body : undefined;
        const text = this.#text(statement, body).replace(/^async /, '');
        return [
          {
            name: statement.id?.name ?? '',
            kind: 'function',
            signature: text,
            members: [],
            parents: [],
            doc,
          },
        ];
      }
      case 'ClassDeclaration': {
        const members = statement.body.body.flatMap((member) => this.#classMember(member));
        const parents = [statement.superClass, ...(statement.implements ?? [])].flatMap((parent) =>
          parent ? [nameIn(this.#text(parent as Node))] : [],
        );
        const signature = this.#text(statement, statement.body);
        return [{ name: statement.id?.name ?? '', kind: 'class', signature, members, parents, doc }];
      }
      case 'TSInterfaceDeclaration': {
        const members = statement.body.body.flatMap((member) => this.#member(member));
        const parents = (statement.extends ?? []).map((parent) => nameIn(this.#text(parent)));
        const signature = this.#text(statement, statement.body);
        return [{ name: statement.id.name, kind: 'interface', signature, members, parents, doc }];
      }
      case 'TSTypeAliasDeclaration': {
        const type = statement.typeAnnotation;
        const members =
          type.type === 'TSTypeLiteral' ? type.members.flatMap((member) => this.#member(member)) : [];
        return [
          {
            name: statement.id.name,
            kind: 'type',
            signature: this.#text(statement),
            members,
            parents: [],
            doc,
          },
        ];
      }
      case 'VariableDeclaration':
        return statement.declarations.map(({ id }) => {
          const name = id.type === 'Identifier' ? id.name : '';
          return { name, kind: 'value', signature: `const ${this.#text(id)}`, members: [], parents: [], doc };
        });
      default:
        return [];
    }
  }

  #member(member: InterfaceMember): Member[] {
    const text = this.#text(member).replace(/[;,]$/, '');
    if (member.type === 'TSMethodSignature') {
      return [
        {
          name: keyOf(this.#text(member.key)),
          kind: 'method',
          optional: Boolean(member.optional),
          signature: text,
          doc: docOf(member),
        },
      ];
    }
    if (member.type !== 'TSPropertySignature') return [];
    const type = member.typeAnnotation ? this.#text(member.typeAnnotation).replace(/^:\s*/, '') : 'unknown';
    return [
      {
        name: keyOf(this.#text(member.key)),
        kind: 'property',
        optional: Boolean(member.optional),
        signature: type,
        doc: docOf(member),
      },
    ];
  }

  #classMember(member: ClassMember): Member[] {
    if (member.type === 'ClassMethod' || member.type === 'TSDeclareMethod') {
      if (member.accessibility === 'private' || docOf(member)?.internal) return [];
      const body = member.type === 'ClassMethod' ? member.body : undefined;
      const signature = this.#text(member, body).replace(/^(override |async )+/, '');
      return [
        {
          name: keyOf(this.#text(member.key)),
          kind: 'method',
          optional: false,
          signature,
          doc: docOf(member),
        },
      ];
    }
    if (member.type !== 'ClassProperty' || member.accessibility === 'private') return [];
    const type = member.typeAnnotation
      ? this.#text(member.typeAnnotation as Node).replace(/^:\s*/, '')
      : this.#text((member.value ?? member) as Node);
    return [
      {
        name: keyOf(this.#text(member.key)),
        kind: 'property',
        optional: false,
        signature: type,
        doc: docOf(member),
      },
    ];
  }

  /** The text of a node up to `end`, on as few lines as it has. */
  #text(node: Node, end?: Node): string {
    return this.#source.slice(node.start ?? 0, end?.start ?? node.end ?? undefined).trim();
  }
}

function docOf(node: Node): DocComment | undefined {
  const comment = node.leadingComments
    ?.filter(({ type, value }) => type === 'CommentBlock' && value.startsWith('*'))
    .at(-1);
  return comment && parseDocComment(comment.value);
}

/** `[Symbol.asyncDispose]` without brackets, and a quoted name without quotes. */
function keyOf(text: string): string {
  return text.replaceAll(/^['"]|['"]$/g, '');
}

function nameIn(text: string): string {
  return /^[\w.]+/.exec(text)?.[0] ?? text;
}
