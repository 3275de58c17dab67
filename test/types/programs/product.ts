/** The records of the programs. It is an interface: it has no index signature. */
export interface Product {
  name: string;
  category: 'lamp' | 'chair';
  price: number;
  weight: number | null;
  available: boolean;
  note?: string;
}

export const lamp: Product = { name: 'Lamp', category: 'lamp', price: 20, weight: null, available: true };

/** Records with lists. */
export interface Article {
  title: string;
  tags: string[];
  minutes?: number | readonly number[] | null;
  mixed: readonly (string | boolean)[];
}
