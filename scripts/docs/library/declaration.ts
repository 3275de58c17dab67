import type { parse } from '@babel/parser';
import { type DocComment, parseDocComment } from './doc-comment.js';

type Program = ReturnType<typeof parse>['program'];
export type Statement = Program['body'][number];
type Kind<Name> = Extract<Statement, { type: Name }>;
type MemberNode =
  | Kind<'TSInterfaceDeclaration'>['body']['body'][number]
  | Kind<'ClassDeclaration'>['body']['body'][number];

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

export class DeclarationReader {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** What `statement` declares; `outer` is the statement that has its comment. */
  read(statement: Statement, outer: Node = statement as Node): Declaration[] {
    const declared = (
      name: string,
      kind: Declaration['kind'],
      signature: string,
      members: readonly MemberNode[] = [],
      parents: readonly (Node | null | undefined)[] = [],
    ): Declaration => ({
      name,
      kind,
      signature,
      members: members.flatMap((member) => this.#member(member)),
      parents: parents.flatMap((parent) => (parent ? [nameIn(this.#text(parent))] : [])),
      doc: docOf(outer),
    });
    switch (statement.type) {
      case 'FunctionDeclaration':
      case 'TSDeclareFunction': {
        const body = statement.type === 'FunctionDeclaration' ? statement.body : undefined;
        return [
          declared(statement.id?.name ?? '', 'function', this.#text(statement, body).replace(/^async /, '')),
        ];
      }
      case 'ClassDeclaration': {
        const { id, body, superClass, implements: interfaces } = statement;
        const parents = [superClass as Node | null, ...((interfaces ?? []) as Node[])];
        return [declared(id?.name ?? '', 'class', this.#text(statement, body), body.body, parents)];
      }
      case 'TSInterfaceDeclaration': {
        const { id, body } = statement;
        return [
          declared(id.name, 'interface', this.#text(statement, body), body.body, statement.extends ?? []),
        ];
      }
      case 'TSTypeAliasDeclaration': {
        const { id, typeAnnotation: type } = statement;
        const members = type.type === 'TSTypeLiteral' ? type.members : [];
        return [declared(id.name, 'type', this.#text(statement), members)];
      }
      case 'VariableDeclaration':
        return statement.declarations.map(({ id }) =>
          declared(id.type === 'Identifier' ? id.name : '', 'value', `const ${this.#text(id)}`),
        );
      default:
        return [];
    }
  }

  #member(member: MemberNode): Member[] {
    const doc = docOf(member);
    switch (member.type) {
      case 'TSMethodSignature':
      case 'ClassMethod':
      case 'TSDeclareMethod': {
        const isOfClass = member.type !== 'TSMethodSignature';
        if (isOfClass && (member.accessibility === 'private' || doc?.internal)) return [];
        const body = member.type === 'ClassMethod' ? member.body : undefined;
        const text = this.#text(member, body).replace(/[;,]$/, '');
        return [
          {
            name: this.#keyOf(member),
            kind: 'method',
            optional: !isOfClass && Boolean(member.optional),
            signature: isOfClass ? text.replace(/^(override |async )+/, '') : text,
            doc,
          },
        ];
      }
      case 'TSPropertySignature':
      case 'ClassProperty': {
        const isOfClass = member.type === 'ClassProperty';
        if (isOfClass && member.accessibility === 'private') return [];
        const value = isOfClass ? this.#text((member.value ?? member) as Node) : 'unknown';
        const type = member.typeAnnotation
          ? this.#text(member.typeAnnotation as Node).replace(/^:\s*/, '')
          : value;
        const optional = !isOfClass && Boolean(member.optional);
        return [{ name: this.#keyOf(member), kind: 'property', optional, signature: type, doc }];
      }
      default:
        return [];
    }
  }

  /** `[Symbol.asyncDispose]` without brackets, and a quoted name without quotes. */
  #keyOf({ key }: { key: object }): string {
    return this.#text(key as Node).replaceAll(/^['"]|['"]$/g, '');
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

function nameIn(text: string): string {
  return /^[\w.]+/.exec(text)?.[0] ?? text;
}
