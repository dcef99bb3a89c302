import { isolated, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# crédito', many: '# de créditos', other: '# créditos' })

export const failures: Text['failures'] = {
  yourAccount: 'Tu cuenta',
  noAnswer: {
    title: 'El servicio no responde',
    text: 'Quizá no tengas conexión. No se ha perdido nada de lo que has escrito; inténtalo de nuevo en un momento.',
  },
  tampered: {
    title: 'No se puede confiar en este historial',
    lost: 'El servicio ya no tiene líneas que había mostrado, o tiene menos de las que dice.',
    altered: 'Una línea se ha cambiado, movido, repetido u omitido. Puede haberlo hecho el servicio.',
    foreign:
      'Hay una línea que no ha escrito la aplicación de ningún miembro. La ha puesto ahí el servicio o alguien que puede escribir aquí.',
    line: (seq, problem) =>
      `Línea ${number(seq)} (${isolated(problem)}). Lo que se muestra de las líneas anteriores ha pasado todas las comprobaciones.`,
    endTitle: 'Lo comprobado termina aquí',
    end: (seq) =>
      `Los mensajes de arriba han pasado todas las comprobaciones, pero la línea ${number(seq)} no. Por eso aquí no se muestra ni se escribe nada más.`,
    again: 'Olvidar lo que este dispositivo ha comprobado y volver a leer la sala',
    restored:
      'Si el servicio ha restaurado una copia de seguridad antigua, puede que las personas que has quitado desde entonces vuelvan a estar en la lista. Vuelve a leer la sala y quítalas otra vez antes de escribir.',
  },
  notOnList: {
    title: 'No estás en la lista',
    text: (email) =>
      `${isolated(email)} no está en la lista de esta sala. Pide al propietario de la sala que la añada o inicia sesión con la dirección a la que te invitaron.`,
  },
  revoked: {
    title: 'Te han quitado de la lista',
    text: (email) =>
      `${isolated(email)} podía entrar antes en esta sala, pero el propietario de la sala la ha quitado de la lista.`,
  },
  unknown: {
    title: 'No ha funcionado',
    text: 'El servicio ha dado una respuesta que esta página no entiende. Quizá ayude recargarla.',
  },
  ownerOnly: {
    title: 'Solo el propietario puede hacerlo',
    text: 'Una sala y su lista pertenecen a quien creó la sala.',
  },
  badToken: {
    title: 'No se ha aceptado tu inicio de sesión',
    text: 'El servicio no ha podido comprobar que sea auténtico. Suele bastar con iniciar sesión de nuevo.',
  },
  badClock: {
    title: 'El reloj de este dispositivo no está en hora',
    text: 'Difiere del reloj del servicio en más de un minuto. Ajusta la hora del dispositivo.',
  },
  badRoomKey: {
    title: 'Esta clave no abre la sala',
    text: 'La última parte del enlace, después de #, no es la clave de esta sala. Puede que se cortara o cambiara al copiarla: pide el enlace otra vez.',
  },
  unsigned: {
    title: 'Esta sala tiene una lista',
    text: 'Solo pueden entrar las personas de la lista. Inicia sesión con el correo electrónico al que te invitaron.',
  },
  tokenExpired: {
    title: 'Tu inicio de sesión ha caducado',
    text: 'Inicia sesión de nuevo para continuar; lo que has escrito se conserva.',
  },
  tokenNotYetValid: {
    title: 'Tu inicio de sesión tiene una fecha futura',
    text: 'Uno de los relojes no está en hora: el de este dispositivo o el del proveedor. Ajusta la hora e inicia sesión de nuevo.',
  },
  tokenBadAudience: {
    title: 'Este inicio de sesión es para otro servicio',
    text: 'Es auténtico, pero no para este servicio. Inicia sesión de nuevo aquí.',
  },
  tokenBadIssuer: {
    title: 'Este inicio de sesión viene de otro lugar',
    text: 'Lo emitió un proveedor que este servicio no conoce. Inicia sesión de nuevo aquí.',
  },
  tokenBadSignature: {
    title: 'Tu inicio de sesión no es auténtico',
    text: 'Su firma no es la del proveedor de identidad. Inicia sesión de nuevo.',
  },
  tokenMalformed: {
    title: 'No se puede leer tu inicio de sesión',
    text: 'Lo que envió el proveedor de identidad está dañado. Inicia sesión de nuevo.',
  },
  unverifiedEmail: {
    title: 'Tu correo electrónico no está confirmado',
    text: 'El proveedor de identidad no ha confirmado que la dirección sea tuya. Confírmala allí e inicia sesión de nuevo.',
  },
  otherDevice: {
    title: 'Este inicio de sesión pertenece a otro dispositivo',
    text: 'Un inicio de sesión solo vale en el dispositivo en el que se hizo. Inicia sesión de nuevo en este.',
  },
  unproven: {
    title: 'Esta sala exige que cada mensaje esté firmado',
    text: 'El dispositivo en el que se escribe un mensaje tiene que firmarlo, y este navegador no ha podido.',
  },
  notFound: {
    title: 'El servicio no tiene esta sala',
    text: 'Su propietario la eliminó o nunca se creó. Lo que se ha eliminado no se puede recuperar.',
  },
  roomExists: { title: 'Esta sala ya existe', text: 'Inténtalo otra vez: cada sala recibe un nombre nuevo.' },
  tooLarge: {
    title: 'Es demasiado',
    text: (kilobytes, messages) =>
      `Un mensaje admite hasta ${number(kilobytes)} KB y una sala hasta ${number(messages)} mensajes.`,
  },
  rateLimited: {
    title: 'Un poco más despacio, por favor',
    text: 'Han llegado demasiadas peticiones desde tu dirección de red. La página seguirá por sí sola en un momento.',
  },
  listChanged: {
    title: 'La lista ha cambiado mientras tanto',
    text: 'Quizá en otra pestaña. Mírala e inténtalo de nuevo.',
  },
  unavailable: {
    title: 'No disponible en este momento',
    text: 'El servicio o su proveedor de identidad tiene un problema. Inténtalo de nuevo en un momento.',
  },
  internal: {
    title: 'No se ha podido leer la sala',
    text: 'El servicio ha tenido un error interno, o se han modificado los mensajes guardados. Prefiere no mostrar nada a mostrar algo falso.',
  },
  invalidRequest: {
    title: 'El servicio no lo ha aceptado',
    text: 'La petición no era válida. Quizá ayude recargar la página.',
  },

  insufficientCredit: {
    title: 'Este cupón no es suficiente',
    text: (price) => `El servicio no lo conoce, o le quedan menos de ${credits(price)}. No se ha descontado nada.`,
  },
  priceChanged: {
    title: 'Su precio ha cambiado',
    text: (shown) =>
      `Ahora cuesta más que el precio mostrado (${creditsOrNothing(shown)}). No se ha descontado nada del cupón. Pulsa otra vez para invitarlo al nuevo precio.`,
    textNow: (now, shown) =>
      `Ahora cuesta ${creditsOrNothing(now)} en vez de ${creditsOrNothing(shown)}. No se ha descontado nada del cupón. Pulsa otra vez para invitarlo al nuevo precio.`,
  },
  catalog: {
    title: 'No se ha podido cargar el catálogo',
    text: 'Quizá no tengas conexión. Inténtalo de nuevo en un momento.',
  },
  uncertain: {
    title: 'No ha llegado respuesta',
    text: 'Puede que se haya invitado al agente de todos modos. Pulsa otra vez para averiguarlo: así no se invita ni se paga dos veces.',
  },
  badKey: {
    title: 'Esta página ya no puede invitar a agentes',
    text: 'La clave de esta página ya no es válida. Recarga la página. Si no sirve de nada, consulta al operador del servicio.',
  },
  invitingTooFast: {
    title: 'Un poco más despacio, por favor',
    text: 'Han llegado demasiadas peticiones desde tu dirección de red. Inténtalo de nuevo en un momento.',
  },
  agentGone: {
    title: 'Ya no se puede invitar a este agente',
    text: 'Se retiró del catálogo. No se ha descontado nada del cupón.',
  },
  noAgents: {
    title: 'Esta sala no deja entrar a agentes',
    text: 'El servicio Space no acepta la prueba de identidad de los agentes. Consulta a su operador. No se ha descontado nada del cupón.',
  },
  agentBadRoomKey: {
    title: 'Esta clave no abre la sala',
    text: 'La última parte del enlace, después de #, no es la clave de esta sala. Pide el enlace otra vez.',
  },
  agentUnproven: {
    title: 'Esta sala exige que cada mensaje esté firmado',
    text: 'El agente no ha podido hacerlo. No se ha descontado nada del cupón.',
  },
}

function creditsOrNothing(count: number): string {
  return count === 0 ? 'nada' : credits(count)
}
