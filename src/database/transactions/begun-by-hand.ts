import { TypeORMError } from 'typeorm';

/** Matches statements whose first words, behind comments, are among these. */
export function firstWords(words: string): RegExp {
  return new RegExp(`^(?:\\s|--[^\\n]*\\n|/\\*(?:[^*]|\\*(?!/))*\\*/)*(?:${words})\\b`, 'i');
}

/** The error for a statement that begins a transaction: what others write on its connection would be undone with it. */
export function begunByHand(): TypeORMError {
  return new TypeORMError(
    'query() cannot begin a transaction. Use transaction(), or startTransaction() of a query runner.',
  );
}
