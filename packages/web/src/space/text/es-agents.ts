import { duration, isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# crédito', many: '# de créditos', other: '# créditos' })

/** Of inviting agents, and of those that were invited. */
export const agents: Text['agents'] = {
  invite: 'Invitar a un agente',
  hint: 'Agentes que participan en una conversación. Lo que cuestan lo paga un cupón.',
  choose: (name, who) => line`Elegir${name(` a ${who}`)}`,
  fetchingCatalog: 'Cargando el catálogo…',
  noAgents: 'No hay agentes en el catálogo.',
  fetching: 'Cargando…',
  moreAgents: (count) => plural(count, { one: '# agente más', many: '# de agentes más', other: '# agentes más' }),
  all: 'Todos los agentes',
  free: 'Gratis',
  price: (count) => credits(count),
  upTo: (minutes) => `hasta ${duration(minutes)}`,
  rated: (average, count) =>
    `valorado con ${average} de 5, ${plural(count, { one: '# valoración', many: '# de valoraciones', other: '# valoraciones' })}`,
  coupon: 'Cupón',
  couponHint: 'Se envía al servicio que manda al agente. Este navegador no lo guarda.',
  notCoupon: (start, length) =>
    `Este cupón no está completo. Un cupón empieza por ${isolated(start)} y tiene ${number(length)} caracteres.`,
  alreadyHere: (name) => `${isolated(name)} ya está en esta sala. No se ha descontado nada del cupón.`,
  inviteFree: 'Invitar',
  inviteFor: (price) => `Invitar por ${credits(price)}`,
  inviting: 'Invitando…',
  notOnList: (name) => line`${name} no está en la lista de esta sala. No se ha descontado nada del cupón.`,
  letInAndInvite: 'Admitir e invitar',
  ownerCanLetIn: (id) => line`Solo el propietario de la sala puede admitirlo, por su identificador: ${id}`,
  terms: {
    title: 'Antes de invitarlo',
    reads: 'Lee esta sala: lo que llegue y lo que se dijo desde el primer mensaje.',
    remote:
      'Este agente funciona en una máquina de su propietario, que recibe la clave de esta sala: una clave no se puede retirar.',
    hosted:
      'Este servicio y quien administra el agente tienen la clave de esta sala mientras el agente está aquí. Que después la olviden es cuestión de confianza: una clave no se puede retirar.',
    list: 'La lista sigue contando: si el agente deja de estar en ella, ya no entra, tenga la clave que tenga.',
    remoteOpen:
      'Aunque lo despidas, puede seguir leyendo esta sala, y escribir en ella como visitante, todo el tiempo que quiera: esta sala deja entrar a todo el que tenga la clave.',
    sealed: 'Lo que se dijo sigue sellado en el almacenamiento para quien no tenga clave.',
    stays: (minutes) => `Se queda hasta que lo despidas en esta pestaña, ${duration(minutes)} como máximo.`,
    costs: (price) => `Cuesta ${credits(price)} en cuanto llega, aunque se vaya pronto.`,
    whoReads: 'Quién puede leer la sala',
    listedRoom: 'En una sala con lista el agente entra solo mientras está en ella, y su estancia termina con su sesión.',
    makeListed: 'Crear una sala con lista',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'Pueden entrar los agentes con clave propia: lo que necesitan se sella para ella, y el servicio no recibe la clave de esta sala. Un agente del servicio puede entrar si permites que su operador lea.',
    hosted: 'Funciona en este servicio: solo puede venir si permites que el operador lea.',
    operator:
      'Este servicio ejecuta el agente, así que su operador puede leer todo en esta sala, desde el primer mensaje, mientras el agente esté aquí.',
    noticeStays:
      'Se le dice a todo el mundo en esta sala. Mantén abierta la sala: solo este dispositivo quita al agente de la lista al final. Mientras la sala no esté abierta aquí, el dispositivo del operador sigue en la lista.',
    consent: (name) =>
      line`Permito que el operador de este servicio lea en esta sala mientras ${name} esté aquí. Eso incluye todo lo dicho antes.`,
    consentMissing: 'Si el operador puede leer, marca la casilla de arriba. Si no, este agente no puede venir.',
    noKey: 'Aquí no es posible: no tiene una clave de cifrado para la que sellar una invitación.',
    remote:
      'Este agente funciona en la máquina de su propietario. La invitación está sellada para su clave, y ningún servidor puede abrirla.',
    leaves: 'Cuando se va, esta sala recibe otra clave. El agente conserva lo que ha leído.',
    present:
      'Mantén abierta esta sala: solo este dispositivo deja entrar al agente, en 30 segundos, y lo quita de la lista al final. Mientras la sala no esté abierta aquí, sigue en la lista y puede leer, también después de su tiempo.',
    stays: (minutes: number) => `Se queda hasta que lo despidas, y ${duration(minutes)} como máximo.`,
    removing: (name) => line`${name} se ha ido. Se está quitando de la lista, y la sala recibe otra clave…`,
    keyChanged: {
      title: 'Este agente tiene ahora otra clave',
      text: 'No se ha descontado nada del cupón. Cierra el catálogo, ábrelo de nuevo e invita al agente desde allí.',
    },
  },
  invited: 'Agentes que has invitado',
  sendAway: (name, who) => line`Despedir${name(` a ${who}`)}`,
  dismiss: (name) => `Descartar ${isolated(name)}`,
  expired: (name, price) => line`${name} se ha ido: se acabó su tiempo. ${cost(price)}`,
  stopped: (name, price) => line`${name} se ha ido. ${cost(price)}`,
  hadToLeave: (name, price) => line`${name} ha tenido que irse. ${cost(price)}`,
  couldNotCome: (name, price) => line`${name} no ha podido venir. ${cost(price)}`,
  unreached: (name) => line`No se ha podido despedir a ${name}. Inténtalo de nuevo.`,
  leaving: (name) => line`Despidiendo a ${name}…`,
  coming: (name) => line`${name} está llegando…`,
  present: (name, time) => line`${name} lee la sala hasta las ${time}`,
  sayComing: (name) => `${isolated(name)} está llegando`,
  sayHere: (name) => `${isolated(name)} está aquí`,
  sayLeft: (name) => `${isolated(name)} se ha ido`,
  sayUnreached: (name) => `No se ha podido despedir a ${isolated(name)}`,
}

function cost(price: number): string {
  return price === 0 ? 'No ha costado nada.' : `Ha costado ${credits(price)}.`
}
