import { useState } from 'preact/hooks'
import { api } from '../../api/api.ts'
import { TextArea, TextField } from '../../components/fields.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import type { Artifact } from './artifacts.tsx'

interface DescribeFormProps {
  collectionId: string
  artifact: Artifact
  onClose: () => void
  onDone: () => void
}

/** What an artifact is called, and what it shows. An empty field removes the text. */
export function DescribeForm({ collectionId, artifact, onClose, onDone }: DescribeFormProps) {
  const [title, setTitle] = useState(artifact.title ?? '')
  const [alt, setAlt] = useState(artifact.alt ?? '')
  const target = { id: collectionId, artifactId: artifact.id }
  const body = () => ({ title: title.trim() || null, alt: alt.trim() || null })
  return (
    <FormDialog
      title="Title and alt text"
      action="Save"
      onClose={onClose}
      curl={() => ['curateArtifact', { ...target, collectionToken: '$COLLECTION_TOKEN', body: body() }]}
      onSubmit={async () => {
        await api.curateArtifact({ ...target, body: body() })
        onDone()
      }}
    >
      <TextField
        label="Title"
        path="/title"
        value={title}
        onChange={setTitle}
        maxLength={200}
        hint="The share page shows it below the picture."
      />
      <TextArea
        label="Alt text"
        path="/alt"
        value={alt}
        onChange={setAlt}
        maxLength={1_000}
        hint="What it shows, for people who cannot see it. Without it, pages use the title."
      />
    </FormDialog>
  )
}
