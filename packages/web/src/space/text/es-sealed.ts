import { line } from './format.ts'
import type { Text } from './text.ts'

export const sealed: Text['sealed'] = {
  farewell: {
    title: 'Esta sala se ha mudado',
    said: (name, when) => line`${name} escribió (${when}) que todos siguen en otra sala. Aquí ya no se puede escribir.`,
    unchecked: 'Cualquiera que tenga el enlace de esta sala puede escribir eso. Si tienes dudas, pregunta antes a los demás.',
    noLink: 'El enlace nuevo no figura aquí. Pídeselo a alguien de la sala.',
    open: 'Abrir la sala nueva',
    unsent: 'No habías enviado esto:',
  },

  move: {
    title: 'Dar a la sala un enlace nuevo',
    hint: 'Se crea una sala nueva y vacía, y aquí se avisa de que todos siguen allí. Esta sala se puede seguir leyendo con el enlace antiguo, pero ya no se puede escribir en ella.',
    who: 'Quién recibe el enlace nuevo',
    all: 'Todos los que tienen el antiguo',
    allHint: 'Lo encuentran aquí.',
    some: 'Solo las personas a quienes se lo des',
    someHint: 'Quien solo tenga el enlace antiguo se queda atrás.',
    button: 'Crear la sala nueva',
    moving: 'Creando la sala nueva…',
  },
}
