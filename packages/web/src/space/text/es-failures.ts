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
    foreign: 'Hay una línea que ninguna aplicación de un miembro ha escrito. La ha puesto el servicio o alguien con el enlace.',
    line: (seq, problem) =>
      `Línea ${number(seq)} (${isolated(problem)}). Lo anterior no ha cambiado. Lo que sigue no se muestra.`,
    endTitle: 'Lo comprobado termina aquí',
    end: (seq) =>
      `Los mensajes de arriba han pasado todas las comprobaciones, pero la línea ${number(seq)} no. Por eso aquí no se muestra ni se escribe nada más.`,
    again: 'Olvidar lo que este dispositivo ha comprobado y volver a leer la sala',
  },
  notOnList: {
    title: 'No estás en la lista',
    text: (email) =>
      `${isolated(email)} no está en la lista de esta sala. Pide a quien creó la sala que la añada o inicia sesión con la dirección a la que te invitaron.`,
  },
  revoked: {
    title: 'Te han quitado de la lista',
    text: (email) => `${isolated(email)} podía entrar antes en esta sala, pero su propietario la ha quitado de la lista.`,
  },
  unknown: {
    title: 'No ha funcionado',
    text: 'El servicio ha dado una respuesta que esta página no entiende. Quizá ayude recargarla.',
  },
  ownerOnly: {
    title: 'Solo el propietario puede hacerlo',
    text: 'La sala y su lista pertenecen a quien la creó.',
  },
  badToken: {
    title: 'No se ha aceptado tu inicio de sesión',
    text: 'El servicio no ha podido comprobar que sea auténtico. Suele bastar con iniciar sesión de nuevo.',
  },
  badClock: {
    title: 'El reloj de este dispositivo va mal',
    text: 'Difiere del reloj del servicio en más de cinco minutos. Ajusta la hora del dispositivo.',
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
    title: 'Tu sesión ha caducado',
    text: 'Solo vale durante un tiempo. Inicia sesión de nuevo para continuar; lo que has escrito se conserva.',
  },
  tokenNotYetValid: {
    title: 'Tu inicio de sesión tiene una fecha futura',
    text: 'Uno de los relojes va mal: el de este dispositivo o el del proveedor. Ajusta la hora e inicia sesión de nuevo.',
  },
  tokenBadAudience: {
    title: 'Este inicio de sesión es para otro servicio',
    text: 'Es auténtico, pero no estaba destinado a este lugar. Inicia sesión de nuevo desde aquí.',
  },
  tokenBadIssuer: {
    title: 'Este inicio de sesión viene de otro lugar',
    text: 'Lo emitió un proveedor que este servicio no conoce. Inicia sesión de nuevo desde aquí.',
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
    text: 'El proveedor de identidad no ha comprobado que la dirección sea tuya. Confírmala allí e inicia sesión de nuevo.',
  },
  otherDevice: {
    title: 'Este inicio de sesión pertenece a otro dispositivo',
    text: 'Un inicio de sesión solo vale junto con el dispositivo en el que se hizo. Inicia sesión de nuevo en este.',
  },
  unproven: {
    title: 'Esta sala exige que cada mensaje esté firmado',
    text: 'El dispositivo en el que se escribe un mensaje tiene que firmarlo, y este navegador no ha podido.',
  },
  notFound: {
    title: 'Esta sala no existe',
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
    text: 'Ha llegado demasiado de golpe desde tu dirección. Seguirá por sí solo en un momento.',
  },
  unavailable: {
    title: 'No disponible en este momento',
    text: 'El servicio, o el proveedor de identidad al que consulta, tiene un problema. Inténtalo de nuevo en un momento.',
  },
  internal: {
    title: 'No se ha podido leer la sala',
    text: 'Algo ha fallado en el servicio, o lo guardado ya no es lo que se escribió. Prefiere no mostrar nada a mostrar algo falso.',
  },
  invalidRequest: {
    title: 'El servicio no lo ha aceptado',
    text: 'Hay algo que no es como debería. Quizá ayude recargar la página.',
  },

  insufficientCredit: {
    title: 'Este cupón no alcanza',
    text: (price) => `Aquí no se conoce, o le quedan menos de ${credits(price)}. No se ha descontado nada.`,
  },
  priceChanged: {
    title: 'Su precio ha cambiado',
    text: (shown) =>
      `Ahora cuesta más, y no ${creditsOrNothing(shown)}. No se ha descontado nada del cupón: pulsa otra vez para invitarlo por ese precio.`,
    textNow: (now, shown) =>
      `Ahora cuesta ${creditsOrNothing(now)}, y no ${creditsOrNothing(shown)}. No se ha descontado nada del cupón: pulsa otra vez para invitarlo por ese precio.`,
  },
  catalog: {
    title: 'No se ha podido cargar el catálogo',
    text: 'Quizá no tengas conexión. Inténtalo de nuevo en un momento.',
  },
  uncertain: {
    title: 'No ha llegado respuesta',
    text: 'Puede que se le haya invitado igualmente. Pulsa otra vez para averiguarlo: no se le invita ni se le paga dos veces.',
  },
  badKey: {
    title: 'Esta página ya no puede invitar a agentes',
    text: 'La clave que le dio el servicio ya no vale. Recarga la página; si no ayuda, puede ayudar quien administra el servicio.',
  },
  invitingTooFast: {
    title: 'Un poco más despacio, por favor',
    text: 'Ha llegado demasiado de golpe desde tu dirección. Inténtalo de nuevo en un momento.',
  },
  agentGone: {
    title: 'Ya no se puede invitar a este agente',
    text: 'Se retiró del catálogo. No se ha descontado nada del cupón.',
  },
  noAgents: {
    title: 'Esta sala no deja entrar a agentes',
    text: 'El servicio Space no acepta las credenciales de los agentes. Quien lo administra sabrá por qué. No se ha descontado nada del cupón.',
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
