import { Level } from 'level'
import { checkedValue } from '../../leader/log/level/checked-value.ts'

/** Changes the text of a stored value, under a sum that fits: only what is built on it shows the change. The database must be closed. */
export async function rewriteValue(databasePath: string, key: string, change: (text: string) => string): Promise<void> {
  const database = new Level<string, Uint8Array>(databasePath, { keyEncoding: 'utf8', valueEncoding: 'view' })
  const stored = (await database.get(key)) as Uint8Array
  const text = Buffer.from(stored.subarray(0, -4)).toString('utf8')
  await database.put(key, checkedValue(key, Buffer.from(change(text), 'utf8')), { sync: true })
  await database.close()
}
