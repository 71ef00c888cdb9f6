import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A key that was deleted with its client. The audit trail still names it until the client is erased. */
@Entity('deleted_keys')
@Index('deleted_keys_client', ['clientId'])
export class DeletedKey {
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  @Column('varchar', { name: 'client_id', length: 36 })
  clientId!: string;

  @Column('varchar', { name: 'client_name', length: 255 })
  clientName!: string;

  /** The first characters of the key. */
  @Column('varchar', { length: 20 })
  prefix!: string;

  @Column('varchar', { length: 255, nullable: true })
  label!: string | null;

  @Column('varchar', { name: 'deleted_at', length: 24 })
  deletedAt!: string;
}

/** Stores the keys of clients that are about to be deleted; a row contains the id of a client and the time of its deletion. */
export const KEEP_DELETED = (rows: string): string => `
  INSERT INTO deleted_keys (id, client_id, client_name, prefix, label, deleted_at)
  SELECT api_keys.id, clients.id, clients.name, api_keys.prefix, api_keys.label, value ->> 'at'
  FROM ${rows} AS deleted JOIN clients ON clients.id = value ->> 'clientId' JOIN api_keys ON api_keys.client_id = clients.id`;
