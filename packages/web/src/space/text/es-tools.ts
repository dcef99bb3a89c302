import { isolated, line, plural } from './format.ts'
import type { Text } from './text.ts'

export const tools: Text['tools'] = {
  names: {
    claimed: (name) => `${isolated(name)} (visitante)`,
    unverified: (keyName) => `visitante sin verificar, ${isolated(keyName)}`,
    change: 'Cambiar nombre',
    title: 'Tu nombre como visitante',
    hint: 'Nadie lo comprueba. Los demás ven que es de un visitante y, al lado, la señal de este dispositivo.',
    label: 'Nombre',
    where: 'Dónde se usa',
    inRoom: 'En esta sala',
    everywhere: 'En todas las salas de este dispositivo',
    everywhereHint: 'Quien lo vea en dos salas puede reconocerte.',
    save: 'Guardar nombre',
    saved: (name) => `Escribes como ${isolated(name)}`,
    cleared: 'Escribes sin nombre propio',
    notAllowed: 'Un nombre no puede llevar @ ni ser «Tú».',
  },

  messages: {
    actions: 'Acciones del mensaje',
    copy: 'Copiar mensaje',
    retract: 'Retirar mensaje',
    retractLabel: '¿Retirar este mensaje?',
    retractHint:
      'La aplicación lo oculta a todo el que abra la sala. Su línea guardada permanece y se puede leer con la clave de la sala.',
    retractIt: 'Retirarlo',
    keepIt: 'Conservarlo',
    hidden: 'Retirado por quien lo escribió. La línea guardada permanece.',
    quoted: 'Un mensaje retirado',
    notice: (name) => line`${name} ha retirado un mensaje.`,
    youNotice: 'Has retirado un mensaje.',
    unloaded: (name) => line`${name} pide retirar un mensaje que no está cargado aquí.`,
    spoken: (name) => `${isolated(name)} ha retirado un mensaje`,
    retracting: 'Retirando un mensaje',
  },

  file: {
    form: 'La aplicación en un solo archivo',
    link: 'Enlace de una sala o dirección de un servicio Space',
    hint: 'Las salas que crees se guardan en ese servicio.',
    current: (origin) => line`Las salas nuevas se guardan en ${origin}.`,
    open: 'Abrir',
    notLink: 'Esto no es ni el enlace completo de una sala ni la dirección de un servicio.',
    noSignIn: 'Un archivo no puede iniciar tu sesión. Para esas salas, usa la página del servicio.',
  },

  kept: {
    title: 'Salas en este dispositivo',
    hint: 'Este navegador tiene las claves de estas salas: quien lo use puede abrirlas.',
    keep: 'Conservar en este dispositivo',
    keepHint:
      'Este navegador mostrará entonces la sala en la página de inicio, con su enlace: quien use este navegador puede abrir la sala.',
    isKept: 'Este navegador muestra esta sala en la página de inicio, con su enlace.',
    nameLabel: 'Nombre de la sala, solo para este navegador',
    name: 'Poner nombre a la sala',
    nameHint: 'Para poner nombre a una sala, ábrela y elige «Más».',
    startPage: 'Página de inicio',
    forget: 'Olvidar esta sala',
    forgetOne: (name, title) => line`Olvidar${name(` ${title}`)}`,
    forgetAll: 'Olvidar todas',
    forgetLabel: (title) => `¿Olvidar ${isolated(title)}?`,
    forgetAsk: 'El enlace se borra de este navegador. Si no lo has conservado en otro sitio, no podrás volver a la sala.',
    forgetIt: 'Olvidarla',
    keepIt: 'Conservarla',
    forgetAllLabel: '¿Olvidar todas las salas?',
    forgetAllAsk:
      'Los enlaces de todas estas salas se borran de este navegador. No podrás volver a una sala cuyo enlace no hayas conservado en otro sitio.',
    keepAll: 'Conservarlas',
    saidKept: 'La sala se conserva en este dispositivo',
    saidForgotten: (title) => `Este dispositivo ha olvidado ${isolated(title)}`,
    saidAllForgotten: 'Este dispositivo ha olvidado todas las salas',
    opened: (when) => line`Última apertura: ${when}`,
    othersHint: 'Esta lista también nombra a algunos de los demás miembros.',
    roomWith: (names) => `Sala con ${names}`,
    more: (count) => plural(count, { one: '# más', many: '# más', other: '# más' }),
    refused: 'Este navegador no permite que la página guarde nada.',
    full: 'La lista de salas de este dispositivo está llena. Olvida una sala en la página de inicio e inténtalo de nuevo.',
  },

  title: {
    heading: 'Título',
    label: 'El título de la sala',
    save: 'Cambiar título',
    changed: (title) => `La sala se llama ahora ${isolated(title)}`,
  },

  qr: {
    show: 'Mostrar código QR',
    hide: 'Ocultar código QR',
    image: 'Código QR del enlace de la sala',
    hint: 'Muéstralo solo a quien deba entrar.',
    tooLong: 'El enlace es demasiado largo para un código QR.',
  },

  agents: {
    title: 'Agentes',
    listHint: 'Un agente puede participar cuando está en la lista.',
    byId: '¿Conoces el identificador de un agente?',
    buyCoupon: (host) => `Comprar un cupón en ${isolated(host)}`,
  },

  spoken: {
    connected: 'Conexión restablecida',
    firstMessage: (name) => `${isolated(name)} escribe aquí por primera vez`,
    earlier: (count) =>
      plural(count, { one: '# mensaje anterior', many: '# de mensajes anteriores', other: '# mensajes anteriores' }),
    sent: 'Mensaje enviado',
    opened: (title, count) =>
      `${isolated(title)}, ${count === 0 ? 'sin mensajes' : plural(count, { one: '# mensaje', many: '# de mensajes', other: '# mensajes' })}`,
  },
}
