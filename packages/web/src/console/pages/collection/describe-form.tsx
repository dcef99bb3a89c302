import { api } from '../../api/api.ts'
import { TextArea, TextField } from '../../components/fields.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { useChanges } from '../../components/use-changes.ts'
import type { Artifact } from './artifacts.tsx'

interface DescribeFormProps {
  collectionId: string
  artifact: Artifact
  onClose: () => void
  onDone: () => void
}

/** What an artifact is called, and what it shows. An empty field removes the text. */
export function DescribeForm({ collectionId, artifact, onClose, onDone }: DescribeFormProps) {
  const { values, changes, setter } = useChanges({ title: artifact.title ?? '', alt: artifact.alt ?? '' })
  const target = { id: collectionId, artifactId: artifact.id }
  const body = Object.fromEntries(Object.entries(changes).map(([name, text]) => [name, text.trim() || null]))
  return (
    <FormDialog
      title="Title and alt text"
      action="Save"
      onClose={onClose}
      curl={() => ['curateArtifact', { ...target, collectionToken: '$COLLECTION_TOKEN', body }]}
      onSubmit={async () => {
        if (Object.keys(body).length > 0) await api.curateArtifact({ ...target, body })
        onDone()
      }}
    >
      <TextField
        label="Title"
        path="/title"
        value={values.title}
        onChange={setter('title')}
        maxLength={200}
        hint="The share page shows it below the picture."
      />
      <TextArea
        label="Alt text"
        path="/alt"
        value={values.alt}
        onChange={setter('alt')}
        maxLength={1_000}
        hint="What it shows, for people who cannot see it. Without it, pages use the title."
      />
    </FormDialog>
  )
}
