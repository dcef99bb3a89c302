import { duration, isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) => plural(count, { one: '# crédito', many: '# de créditos', other: '# créditos' })

/** Of inviting agents, and of those that were invited. */
export const agents: Text['agents'] = {
  invite: 'Invitar a un agente',
  hint: 'Los agentes participan en una conversación. Se pagan con un cupón.',
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
  couponHint: 'Va al servicio que envía al agente. Este navegador no lo guarda.',
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
    reads: 'Lee todo lo que hay en esta sala, desde el primer mensaje.',
    remote:
      'Este agente funciona en la máquina de su propietario, y el propietario recibe la clave de esta sala. Una clave ya entregada no se puede retirar.',
    hosted:
      'Este servicio y el operador del agente tienen la clave de esta sala mientras el agente está aquí. Tienes que confiar en que después la olviden: una clave ya entregada no se puede retirar.',
    list: 'La lista sigue valiendo: si el agente deja de estar en ella, ya no puede entrar, tenga la clave que tenga.',
    remoteOpen:
      'Después de que lo hagas salir, puede seguir leyendo esta sala y escribiendo en ella como visitante: esta sala deja entrar a todo el que tenga la clave.',
    sealed: 'Lo que se dijo sigue sellado en el almacenamiento para quien no tenga la clave.',
    stays: (minutes) => `Se queda hasta que lo hagas salir en esta pestaña, ${duration(minutes)} como máximo.`,
    costs: (price) => `Cuesta ${credits(price)} en cuanto llega, aunque se vaya pronto.`,
    whoReads: 'Quién puede leer la sala',
    listedRoom: 'En una sala con lista el agente entra solo mientras está en ella, y su estancia termina con su sesión.',
    makeListed: 'Crear una sala con lista',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'Pueden participar los agentes con clave propia: lo que necesitan se sella para esa clave, y el servicio no recibe la clave de esta sala. Un agente del servicio puede participar si permites que su operador lea la sala.',
    hosted: 'Funciona en este servicio: solo puede venir si permites que el operador lea la sala.',
    operator:
      'Este servicio ejecuta el agente, así que el operador del servicio puede leer todo lo que hay en esta sala, desde el primer mensaje, mientras el agente esté aquí.',
    noticeStays:
      'Se informa de ello a todos en esta sala. Mantén abierta la sala: solo este dispositivo quita al agente de la lista al final. Mientras la sala no esté abierta aquí, el dispositivo del operador sigue en la lista.',
    consent: (name) =>
      line`Permito que el operador de este servicio lea esta sala mientras ${name} esté aquí. Eso incluye todo lo dicho antes.`,
    consentMissing: 'Si el operador puede leer la sala, marca la casilla de arriba. Si no, este agente no puede venir.',
    noKey: 'Aquí no es posible: no tiene una clave de cifrado para la que sellar una invitación.',
    remote:
      'Este agente funciona en la máquina de su propietario. La invitación está sellada para la clave del agente, y ningún servidor puede abrirla.',
    leaves: 'Cuando se va, esta sala recibe otra clave. El agente conserva lo que ha leído.',
    present:
      'Mantén abierta esta sala: solo este dispositivo admite al agente, en un plazo de 30 segundos, y lo quita de la lista al final. Mientras la sala no esté abierta aquí, el agente sigue en la lista y puede leer la sala, también después de su tiempo.',
    stays: (minutes: number) => `Se queda hasta que lo hagas salir, y ${duration(minutes)} como máximo.`,
    removing: (name) => line`${name} se ha ido. Se está quitando al agente de la lista, y la sala recibe otra clave…`,
    keyChanged: {
      title: 'Este agente tiene ahora otra clave',
      text: 'No se ha descontado nada del cupón. Cierra el catálogo, ábrelo de nuevo e invita al agente desde allí.',
    },
  },
  invited: 'Agentes que has invitado',
  sendAway: (name, who) => line`Hacer salir${name(` a ${who}`)}`,
  dismiss: (name) => `Ocultar ${isolated(name)}`,
  expired: (name, price) => line`${name} se ha ido: se acabó su tiempo. ${cost(price)}`,
  stopped: (name, price) => line`${name} se ha ido. ${cost(price)}`,
  hadToLeave: (name, price) => line`${name} ha tenido que irse. ${cost(price)}`,
  couldNotCome: (name, price) => line`${name} no ha podido venir. ${cost(price)}`,
  unreached: (name) => line`No se ha podido hacer salir a ${name}. Inténtalo de nuevo.`,
  leaving: (name) => line`Haciendo salir a ${name}…`,
  coming: (name) => line`${name} está llegando…`,
  present: (name, time) => line`${name} lee la sala (hasta: ${time})`,
  sayComing: (name) => `${isolated(name)} está llegando`,
  sayHere: (name) => `${isolated(name)} está aquí`,
  sayLeft: (name) => `${isolated(name)} se ha ido`,
  sayUnreached: (name) => `No se ha podido hacer salir a ${isolated(name)}`,
}

function cost(price: number): string {
  return price === 0 ? 'No ha costado nada.' : `Ha costado ${credits(price)}.`
}
