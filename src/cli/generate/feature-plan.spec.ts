import { describe, expect, it } from 'vitest';
import { OPERATIONS, parseField, parseOperations, parseState, planFeature } from './feature-plan.js';

describe('a field', () => {
  it.each([
    ['name:text', { property: 'name', columnName: 'name', type: 'string', options: { maxLength: 255 } }],
    ['adopterName:text:100', { columnName: 'adopter_name', options: { maxLength: 100 }, isOptional: false }],
    ['note:text:1000?', { isOptional: true, column: { type: 'varchar', length: 1000 } }],
    ['price:int64', { type: 'bigint', decorator: 'Int64' }],
    ['petId:int64:ref=pets', { references: 'pets', columnName: 'pet_id' }],
    ['petId:int64:ref=pets?', { references: 'pets', isOptional: true }],
    [
      'size:integer:-1..9',
      { type: 'number', options: { minimum: -1, maximum: 9 }, column: { type: 'integer' } },
    ],
    ['size:integer:0..3000000000', { column: { type: 'bigint' } }],
    ['colour:enum:red,dark_blue', { values: ['red', 'dark_blue'], column: { type: 'varchar', length: 9 } }],
    ['at:instant', { decorator: 'Instant', column: { type: 'varchar', length: 24 } }],
    ['token:uuid?', { decorator: 'Uuid', isOptional: true }],
  ])('%s', (text, field) => {
    expect(parseField(text)).toMatchObject(field);
  });

  it.each([
    ['name', /colon and a kind/],
    ['Name:text', /camelCase/],
    ['name:varchar', /text or text:<most characters>/],
    ['name:text:0', /name:text or text:/],
    ['name:text:10001', /name:text or text:/],
    ['size:integer', /size:integer:<least>\.\.<most>/],
    ['size:integer:9..1', /size:integer/],
    ['petId:int64:pets', /ref=<table>/],
    ['colour:enum:red', /<value>,<value>/],
    ['colour:enum:red,red', /<value>,<value>/],
    ['colour:enum:Red,blue', /<value>,<value>/],
    ['at:instant:3', /at:instant/],
  ])('%s is refused and the message says how it is written', (text, message) => {
    expect(() => parseField(text)).toThrow(message);
  });
});

describe('states and operations', () => {
  it('begin with the first state', () => {
    expect(parseState('requested,approved')).toMatchObject({ property: 'state', initial: 'requested' });
    expect(() => parseState('requested')).toThrow(/two states/);
  });

  it('keep the order of the controller', () => {
    expect([...parseOperations('delete,list')]).toEqual(['list', 'delete']);
    expect(() => parseOperations('list,patch')).toThrow(/list,create,get,update,delete/);
  });
});

describe('a feature', () => {
  const fields = [parseField('name:text')];
  const plan = (feature: string, singular?: string) =>
    planFeature(feature, fields, new Set(OPERATIONS), singular);

  it.each([
    [
      'adoptions',
      undefined,
      { entity: 'Adoption', one: 'adoption', table: 'adoptions', plural: 'Adoptions' },
    ],
    ['pet-toys', undefined, { entity: 'PetToy', one: 'petToy', table: 'pet_toys', constant: 'PET_TOYS' }],
    ['categories', undefined, { entity: 'Category', error: 'category' }],
    ['boxes', undefined, { singular: 'box' }],
    ['geese', 'goose', { singular: 'goose', entity: 'Goose' }],
  ])('%s', (feature, singular, names) => {
    expect(plan(feature, singular)).toMatchObject(names);
  });

  it.each(['Adoptions', 'pet_toys', 'geese', '-a', '../pets', ''])('cannot be named %j', (feature) => {
    expect(() => plan(feature)).toThrow(/--singular/);
  });

  it.each([
    'rows',
    'services',
    'operations',
    'entities',
    'objects',
    'classes',
    'defaults',
    'a'.repeat(50) + 's',
  ])('cannot be named %s, which the code needs or which is too long', (feature) => {
    expect(() => plan(feature)).toThrow(/another name|at most 40/);
  });

  it.each([
    'constructor:text',
    'toString:text',
    'then:text',
    'new:int64',
    'ownerId:int64:ref=toys',
    'toy:text?',
    'row:text?',
  ])('cannot have the field %s', (field) => {
    expect(() => planFeature('toys', [parseField(field)], new Set(OPERATIONS))).toThrow(/called|own table/);
  });

  it('has every field once, and one at least', () => {
    expect(() => planFeature('toys', [...fields, ...fields], new Set(OPERATIONS))).toThrow(/name is there/);
    expect(() => planFeature('toys', [parseField('id:int64')], new Set(OPERATIONS))).toThrow(
      /every feature has one/,
    );
    for (const none of [[], [parseState('a,b')]])
      expect(() => planFeature('toys', none, new Set(OPERATIONS))).toThrow(/at least one --field/);
  });
});
