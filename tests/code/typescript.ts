import { Thing } from './thing';

/** A pair. */
export type Pair<A, B = A> = [A, B];
type Options = {
  name: string;
  run(times: number): void;
};
type Long =
  | 'a'
  | 'b';

export interface Shape<T extends object> extends Base {
  readonly sides: number;
  area(scale?: number): number;
  'quoted-name': string;
  new (x: number): Shape<T>;
  (call: string): void;
  [key: string]: unknown;
}

export const enum Color { Red, Green = 'green', 'Blue!' = 3 }
declare enum Far { Away }

@Component({ selector: 'x' })
export abstract class Widget<T> extends Base implements Shape<object> {
  @Input() name!: string;
  private readonly items: T[] = [];
  static count = 0;
  // Made by hand.
  constructor(private readonly service: Service, public id = 1) { super(); }
  abstract draw(ctx: Context): void;
  find(key: string): T;
  find(key: number): T;
  @HostListener('click', ['$event'])
  find(key: any): T { return this.items[0]; }
  protected get first(): T { return this.items[0]; }
  onClick = (event: Event): void => {};
}

export function overload(a: string): string;
export function overload(a: number): number;
export function overload(a: any): any { return a; }

export namespace Outer.Inner {
  export const inside = 1;
  export function deep<T>(this: Window, x: T): x is T & string { return true; }
}
namespace Plain { class Hidden {} }
declare module 'some-module' {
  export function declared(x: number): void;
  const value: string;
}
declare global {
  interface Window { extra: string }
}
declare const VERSION: string;
declare function outside(x: number): void;

export const config = {
  load() { return 1; },
} as const;
const table: Record<string, number> = {};
export default function (größe: number) { return größe; }
export const handler: Handler = async (event) => { return event; };
let later: string | undefined;
