import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { Client } from './client.entity.js';

/** A key of a client. Only the SHA-256 of its secret is stored. */
@Entity('api_keys')
@Index('api_keys_created', ['createdAt', 'id'])
@Index('api_keys_prefix', ['prefix'])
@Index('api_keys_banned', ['bannedUntil', 'clientId'])
@Index('api_keys_expires', ['expiresAt', 'clientId'])
export class ApiKey {
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  @Column('varchar', { name: 'client_id', length: 36 })
  @Index('api_keys_client')
  clientId!: string;

  @ManyToOne(() => Client, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'api_keys_of_client' })
  client!: Relation<Client>;

  /** SHA-256 of the key, in hexadecimal. */
  @Column('varchar', { length: 64 })
  @Index('api_keys_digest', { unique: true })
  digest!: string;

  /** The first characters of the key, by which people recognize it. */
  @Column('varchar', { length: 20 })
  prefix!: string;

  @Column('simple-json')
  scopes!: string[];

  @Column('varchar', { name: 'created_at', length: 24 })
  createdAt!: string;

  @Column('varchar', { name: 'expires_at', length: 24, nullable: true })
  expiresAt!: string | null;

  @Column('varchar', { name: 'revoked_at', length: 24, nullable: true })
  revokedAt!: string | null;

  /** The original expiry; `expiresAt` may have been shortened since. */
  @Column('varchar', { name: 'issued_until', length: 24, nullable: true })
  issuedUntil!: string | null;

  /** A name chosen by the client. */
  @Column('varchar', { length: 255, nullable: true })
  label!: string | null;

  /** Time of the last use, to the minute; null if the key was never used. */
  @Column('varchar', { name: 'last_used_at', length: 24, nullable: true })
  lastUsedAt!: string | null;

  /** Id of the key that replaced it by rotation. */
  @Column('varchar', { name: 'replaced_by', length: 36, nullable: true })
  replacedBy!: string | null;

  /** End of its last ban that was not lifted, for lists; the quota store decides whether it is banned. */
  @Column('varchar', { name: 'banned_until', length: 24, nullable: true })
  bannedUntil!: string | null;
}
