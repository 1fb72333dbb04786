// Signatures without semicolons, variance, and what stands behind an error.
export interface Handler {
  <A extends string>(a: A): Map<A, A>
  <B extends string>(
    b: B
  ): Map<B, B>
  (c: number): void
}

export type Pair<in T, out U> = (t: T) => U

export class Point {
  constructor(private readonly x: number, public y = 0, z: number) {}
}

export function broken(a: number { return a

export interface Behind {
  value: string
}

export const behind = 1

export function text(a: number { return `
function inner_of_a_text() {
` }

export type Last = string
