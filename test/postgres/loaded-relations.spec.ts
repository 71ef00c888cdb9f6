import { Module } from '@nestjs/common';
import {
  Column,
  DataSource,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
  type Relation,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';
import { beforeAll, describe, expect, it } from 'vitest';
import { Int64Key } from '../../src/database/int64.js';
import { addedTable } from '../support/added-table.js';
import { openForAll } from '../support/opened.js';

@Entity('authors')
class Author {
  @Int64Key()
  id!: bigint;

  @OneToMany(() => Book, ({ author }) => author)
  books?: Relation<Book>[];

  @OneToMany(() => Letter, ({ author }) => author)
  letters?: Promise<Letter[]>;
}

@Entity('labels')
class Label {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToMany(() => Book, ({ labels }) => labels)
  books?: Relation<Book>[];
}

@Entity('covers')
class Cover {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @OneToOne(() => Book, ({ cover }) => cover)
  book?: Relation<Book>;
}

@Entity('books')
class Book {
  @Int64Key()
  id!: bigint;

  @ManyToOne(() => Author, ({ books }) => books)
  author?: Relation<Author> | null;

  @ManyToMany(() => Label, ({ books }) => books)
  @JoinTable()
  labels?: Relation<Label>[];

  @OneToOne(() => Cover, ({ book }) => book)
  @JoinColumn()
  cover?: Relation<Cover> | null;

  @ManyToMany(() => Author, { eager: true })
  @JoinTable()
  readers?: Relation<Author>[];
}

@Entity('letters')
class Letter {
  @Int64Key()
  id!: bigint;

  @ManyToOne(() => Author, ({ letters }) => letters)
  author?: Promise<Author>;

  @ManyToMany(() => Label)
  @JoinTable()
  labels?: Promise<Label[]>;
}

/** Entities of a tree, whose columns are the same. */
function treeOf(kind: 'closure-table' | 'materialized-path' | 'nested-set') {
  const name = `${kind.replace('-', '_')}_nodes`;
  @Entity(name)
  @Tree(kind)
  class Node {
    @Int64Key()
    id!: bigint;

    @Column('varchar')
    name!: string;

    @TreeChildren({ cascade: true })
    children?: Node[];

    @TreeParent()
    parent?: Node | null;
  }
  return Object.defineProperty(Node, 'name', { value: name });
}

const TREES = (['closure-table', 'materialized-path', 'nested-set'] as const).map(
  (kind) => [kind, treeOf(kind)] as const,
);

@Module({ imports: [Author, Label, Cover, Book, Letter, ...TREES.map(([, tree]) => tree)].map(addedTable) })
class LibraryModule {}

const service = await openForAll({ modules: [LibraryModule] });
const { manager } = service.app.get(DataSource);
/** Doubles hold neither. */
const [FAR, FARTHER] = [2n ** 62n + 1n, 2n ** 62n + 2n];

beforeAll(async () => {
  await manager.insert(Author, [{ id: 1n }, { id: FAR }, { id: FARTHER }]);
  const labels = await manager.save([new Label(), new Label(), new Label()]);
  const [first, second, third] = labels as [Label, Label, Label];
  const covers = await manager.save([new Cover(), new Cover()]);
  const authors = [{ id: 1n }, { id: FAR }, { id: FARTHER }];
  await manager.save([
    manager.create(Book, {
      author: { id: 1n },
      labels: [first, second],
      cover: covers[0] ?? null,
      readers: authors,
    }),
    manager.create(Book, { author: { id: FAR }, labels: [], cover: covers[1] ?? null, readers: [] }),
    manager.create(Book, { author: { id: FAR }, labels: [third], cover: null, readers: authors.slice(2) }),
    manager.create(Book, { author: null, labels: [second], cover: null, readers: authors.slice(1) }),
  ]);
  for (const id of [FAR, FARTHER, FARTHER]) {
    const letter = new Letter();
    letter.author = Promise.resolve(await manager.findOneByOrFail(Author, { id }));
    letter.labels = Promise.resolve([first, third]);
    await manager.save(letter);
  }
});

/** With related rows in the order of their ids. */
function sorted<T>(value: T): T {
  const idOf = (one: unknown) => String((one as { id?: unknown }).id ?? one);
  if (Array.isArray(value)) return value.map(sorted).toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)])) as T;
}

describe('relations are loaded by queries as by joins', () => {
  it('of books', async () => {
    const relations = {
      author: { books: true },
      labels: { books: true },
      cover: { book: true },
      readers: true,
    } as const;
    const [joined, queried] = await Promise.all(
      (['join', 'query'] as const).map((relationLoadStrategy) =>
        manager.find(Book, { relations, relationLoadStrategy, order: { id: 'ASC' } }),
      ),
    );
    expect(sorted(queried)).toEqual(sorted(joined));
    expect(
      joined?.map(({ author, labels, cover, readers }) => [
        author?.id,
        labels?.length,
        cover !== null,
        readers?.length,
      ]),
    ).toEqual([
      [1n, 2, true, 3],
      [FAR, 0, true, 0],
      [FAR, 1, false, 1],
      [undefined, 1, false, 2],
    ]);
  });

  it('of authors, labels and covers', async () => {
    for (const [entity, relations] of [
      [Author, { books: true }],
      [Label, { books: true }],
      [Cover, { book: true }],
    ] as const) {
      const find = (relationLoadStrategy: 'join' | 'query') =>
        manager.find<object>(entity, { relations, relationLoadStrategy });
      expect(sorted(await find('query'))).toEqual(sorted(await find('join')));
    }
  });

  it('as ids and counts', async () => {
    const books = await manager
      .createQueryBuilder(Book, 'book')
      .loadAllRelationIds({ relations: ['author', 'labels', 'readers'] })
      .loadRelationCountAndMap('book.labelCount', 'book.labels')
      .loadRelationCountAndMap('book.readerCount', 'book.readers')
      .orderBy('book.id')
      .getMany();
    expect(sorted(books)).toMatchObject([
      { author: 1n, labels: [1, 2], readers: sorted([1n, FAR, FARTHER]), labelCount: 2, readerCount: 3 },
      { author: FAR, labels: [], readers: [], labelCount: 0, readerCount: 0 },
      { author: FAR, labels: [3], readers: [FARTHER], labelCount: 1, readerCount: 1 },
      { author: null, labels: [2], readers: [FAR, FARTHER], labelCount: 1, readerCount: 2 },
    ]);
    const authors = await manager
      .createQueryBuilder(Author, 'author')
      .loadRelationCountAndMap('author.count', 'author.books')
      .loadRelationCountAndMap('author.late', 'author.books', 'book', (query) =>
        query.andWhere('book.id > :id', { id: 2n }),
      )
      .loadRelationIdAndMap('author.bookIds', 'author.books')
      .orderBy('author.id')
      .getMany();
    expect(authors).toMatchObject([
      { count: 1, late: 0, bookIds: [1n] },
      { count: 2, late: 1, bookIds: [2n, 3n] },
      { count: 0, late: 0, bookIds: [] },
    ]);
    const labels = await manager
      .createQueryBuilder(Label, 'label')
      .loadRelationCountAndMap('label.count', 'label.books')
      .loadRelationIdAndMap('label.bookIds', 'label.books')
      .orderBy('label.id')
      .getMany();
    expect(labels).toMatchObject([
      { count: 1, bookIds: [1n] },
      { count: 2, bookIds: [1n, 4n] },
      { count: 1, bookIds: [3n] },
    ]);
    const found = await manager.find(Book, {
      loadRelationIds: { relations: ['author'] },
      order: { id: 'ASC' },
      loadEagerRelations: false,
    });
    expect(found.map(({ author }) => author)).toEqual([1n, FAR, FAR, null]);
  });

  it('lazily', async () => {
    const letters = await manager.find(Letter, { order: { id: 'ASC' } });
    expect(await Promise.all(letters.map(async ({ author }) => (await author)?.id))).toEqual([
      FAR,
      FARTHER,
      FARTHER,
    ]);
    expect((await letters[0]?.labels)?.map(({ id }) => id)).toEqual([1, 3]);
    const author = await manager.findOneByOrFail(Author, { id: FARTHER });
    expect((await author.letters)?.map(({ id }) => id)).toEqual([2n, 3n]);
  });

  it('by the relation query builder', async () => {
    const of = (id: bigint) => manager.createQueryBuilder().relation(Author, 'books').of(id);
    expect(new Set((await of(FAR).loadMany<Book>()).map(({ id }) => id))).toEqual(new Set([2n, 3n]));
    await of(FARTHER).add([3n]);
    expect((await of(FARTHER).loadMany<Book>()).map(({ id }) => id)).toEqual([3n]);
    await manager.createQueryBuilder().relation(Book, 'author').of(3n).set(FAR);
    expect((await manager.createQueryBuilder().relation(Book, 'author').of(3n).loadOne<Author>())?.id).toBe(
      FAR,
    );
    const readers = manager.createQueryBuilder().relation(Book, 'readers').of(2n);
    await readers.addAndRemove([FAR, FARTHER], []);
    await readers.remove(FARTHER);
    expect((await readers.loadMany<Author>()).map(({ id }) => id)).toEqual([FAR]);
    await readers.remove(FAR);
  });
});

describe.each(TREES)('a tree by %s', (_, Node) => {
  it('is read as it was saved', async () => {
    const nodes = manager.getTreeRepository(Node);
    const make = (name: string, parent: InstanceType<typeof Node> | null = null) =>
      nodes.save(nodes.create({ name, parent }));
    const root = await make('root');
    const [left, right] = [await make('left', root), await make('right', root)];
    const leaf = await make('leaf', left);
    const names = (one: { name: string; children?: { name: string }[] }): unknown => [
      one.name,
      ...(one.children ?? []).map(names),
    ];
    expect((await nodes.findTrees()).map(names)).toEqual([['root', ['left', ['leaf']], ['right']]]);
    expect(names(await nodes.findDescendantsTree(left))).toEqual(['left', ['leaf']]);
    expect(await nodes.countDescendants(root)).toBe(4);
    expect((await nodes.findDescendants(left)).map(({ name }) => name).toSorted()).toEqual(['leaf', 'left']);
    expect((await nodes.findAncestors(leaf)).map(({ name }) => name).toSorted()).toEqual([
      'leaf',
      'left',
      'root',
    ]);
    const up = await nodes.findAncestorsTree(leaf);
    expect([up.name, up.parent?.name, up.parent?.parent?.name]).toEqual(['leaf', 'left', 'root']);
    expect((await nodes.findRoots()).map(({ id }) => id)).toEqual([root.id]);
    await nodes.save(Object.assign(leaf, { parent: right }));
    expect(names(await nodes.findDescendantsTree(right))).toEqual(['right', ['leaf']]);
  });
});
