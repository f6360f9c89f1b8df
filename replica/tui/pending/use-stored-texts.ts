import { createHash } from 'node:crypto'
import { useEffect, useRef, useState } from 'react'
import type { ArtifactReference } from '../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { failureOf } from '../../react/store/failure.ts'
import { useApp } from '../app/app-context.ts'

/** Stored texts by name, read when they are wanted; one that is too long, or that is not what its name says, is told about and left out. */
export function useStoredTexts(wanted: readonly ArtifactReference[]): ReadonlyMap<string, string> {
  const app = useApp()
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const asked = useRef(new Set<string>())
  useEffect(() => {
    // Who asks again after a failure gets another try.
    if (wanted.length === 0) asked.current.clear()
    for (const reference of wanted) {
      const { artifact } = reference
      if (asked.current.has(artifact)) continue
      asked.current.add(artifact)
      readWhole(app.store.connection, reference)
        .then(text => setTexts(before => new Map([...before, [artifact, text]])))
        .catch(error => {
          app.tell(`The rest could not be read: ${failureOf(error).message}`, 'warn')
        })
    }
  }, [app, wanted])
  return texts
}

async function readWhole(connection: LeaderConnection | null, { artifact, bytes }: ArtifactReference): Promise<string> {
  if (connection === null) throw new Error('there is no connection to the leader')
  if (bytes > LIMITS.pendingTextBytes)
    throw new Error('it is too long for this screen; the inspector and export have it')
  const hash = createHash('sha256')
  const decoder = new TextDecoder()
  let text = ''
  let read = 0
  for await (const piece of connection.artifact(artifact)) {
    read += piece.length
    if (read > bytes) throw new Error('it is longer than it should be')
    hash.update(piece)
    text += decoder.decode(piece, { stream: true })
  }
  if (`sha256:${hash.digest('hex')}` !== artifact) throw new Error('it is not what its name says')
  return text + decoder.decode()
}
