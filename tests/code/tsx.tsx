import React from 'react';

interface Props<T> { items: T[]; render: (item: T) => React.ReactNode }

// A list.
export const List = <T,>({ items, render }: Props<T>) => (
  <ul>{items.map((item) => <li>{render(item)}</li>)}</ul>
);
export const Memo = React.memo(function Inner(props: { a: string }) { return <b>{props.a}</b>; });
export default class App extends React.Component<Props<string>> {
  state = { open: false };
  render() { return <List items={[]} render={(x) => x} />; }
}
