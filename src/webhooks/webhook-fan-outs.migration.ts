import { type MigrationInterface, type QueryRunner, Table } from 'typeorm';

/** Adds the table of messages that have no deliveries yet. */
export class WebhookFanOuts1795500001000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: 'webhook_fan_outs',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          { name: 'message_id', type: 'varchar', length: '36' },
          { name: 'client_id', type: 'varchar', length: '36', isNullable: true },
        ],
        indices: [{ name: 'webhook_fan_outs_message', columnNames: ['message_id'] }],
        foreignKeys: [
          {
            name: 'webhook_fan_outs_of_message',
            columnNames: ['message_id'],
            referencedTableName: 'webhook_messages',
            referencedColumnNames: ['id'],
            onDelete: 'CASCADE',
          },
        ],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('webhook_fan_outs');
  }
}
