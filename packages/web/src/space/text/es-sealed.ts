import { isolated, line, list, plural } from './format.ts'
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
    someHint: 'Quien solo tenga el enlace antiguo no podrá seguir.',
    button: 'Crear la sala nueva',
    moving: 'Creando la sala nueva…',
  },

  list: {
    choiceHint: 'Invitas a cada una. La clave se queda en sus dispositivos.',
    withAgents: 'Personas de una lista y agentes',
    withAgentsHint: 'Inician sesión con su correo electrónico. Cada petición da la clave al servicio un momento.',
    yourName: (optional) => line`Tu nombre ${optional('opcional')}`,
    addressesHint: 'Después envías una invitación a cada una. También puedes invitar más tarde.',
    head: 'Solo personas de su lista. La clave se queda con ellas.',
    empty:
      'En «Personas» encuentras las invitaciones. Envía cada una a la persona a la que va dirigida y admite a quien haya respondido.',
    emptyMember: 'Nadie ha escrito todavía. Quien esté en la lista puede leer lo que escribas.',
    share:
      'Este enlace abre la sala solo en dispositivos que están en su lista. Para que entre alguien, envía una invitación: consulta «Personas».',
    members: 'En la lista',
    removeHint: 'La persona a la que se quita no lee nada de lo que se escriba después: la sala recibe otra clave.',
    removeLabel: (who) => `¿Quitar a ${isolated(who)}?`,
    removeAsk: (who) =>
      line`¿Quitar a ${who} de la lista? No se puede deshacer. El dispositivo solo puede volver con una nueva invitación, a la que debe responder.`,
    removeToo: (who) => `Con él se quitan estos dispositivos, que ha declarado: ${who}.`,
    removeStays: (who) => `Estos dispositivos de la misma persona siguen en la lista y leen lo que siga: ${who}.`,
    removeInvites: (who) => `También se retiran todas las invitaciones pendientes para ${who}.`,
    removeIt: 'Quitarlo',
    keepIt: 'Conservarlo',
    addDevice: 'Añadir otro dispositivo tuyo',
    deviceOf: (name) => `${name}, otro dispositivo`,
    deviceLink: 'Enlace para tu segundo dispositivo',
    deviceHint:
      'Aquí cada dispositivo tiene claves propias. Abre este enlace en tu segundo dispositivo. Este muestra entonces un enlace para abrir en el dispositivo que usas ahora. Ninguno de los dos enlaces contiene un secreto.',
    named: 'Segundos dispositivos',
    kinds:
      'El servicio no recibe la clave de esta sala, salvo que el propietario de la sala admita a un agente del servicio. En ese caso se indica encima de los mensajes.',
    invitations: 'Invitaciones',
    unanswered: 'Sin respuesta todavía',
    answered: (name, note) => line`Ha respondido ${name}: ${note}`,
    waits: (who) => `${isolated(who)} espera a que se le admita.`,
    letIn: (name, who) => line`Admitir${name(` a ${who}`)}`,
    notLetIn: 'Esta dirección no se ha acreditado con un inicio de sesión. Retira la invitación y envía otra.',
    noKey: 'El dispositivo que ha respondido no puede recibir la clave. Retira la invitación y envía otra.',
    takeBack: (name, who) => line`Retirar${name(` la invitación para ${who}`)}`,
    tookBack: (who) => `La invitación para ${isolated(who)} se ha retirado`,
    takeBackLabel: (who) => `¿Retirar la invitación para ${isolated(who)}?`,
    takeBackAsk: (name) => line`${name} ya ha respondido a ella y tendría que responder a otra invitación para entrar.`,
    takeItBack: 'Retirarla',
    leaveIt: 'Conservarla',
    show: (name, who) => line`Mostrar enlace${name(` para ${who}`)}`,
    linkFor: (who) => `Invitación para ${isolated(who)}`,
    linkHint: 'Envíalo solo a esta persona: hasta que se responda a la invitación, quien tenga el enlace puede leer la sala.',
    invite: 'Invitar a alguien',
    inviteButton: 'Invitar',
    inviteHint: 'Por su correo electrónico. La invitación es un enlace que envías tú. El servicio no recibe la dirección.',
    invited: (count) =>
      plural(count, { one: '# invitación preparada', other: '# invitaciones preparadas', many: '# de invitaciones preparadas' }),
    showWho: 'Inicia sesión para mostrar a los demás tu correo electrónico. El servicio no lo recibe.',
  },

  members: {
    and: (who, why) => `${isolated(who)}, ${isolated(why)}`,
    proven: (email, issuer) => `${isolated(email)}, dirección acreditada por ${isolated(issuer)}`,
    provenByOwner: (email, issuer) =>
      `${isolated(email)}, dirección acreditada por ${isolated(issuer)} con una clave que guardó el propietario`,
    owner: 'creó la sala',
    agent: (id: string) => `${isolated(id)}, invitado por el propietario por el tiempo que dure su sesión`,
    hosted: (id: string) => `${isolated(id)} de este servicio: su operador puede leer la sala`,
    readsAlong: (name) => line`El operador de ${name} puede leer esta sala. El propietario de la sala ha admitido al agente.`,
    invitedAs: (who) => `invitación para ${isolated(who)}`,
    unsigned: 'sin inicio de sesión',
    unchecked: 'inicio de sesión no comprobado aquí',
    revoked: 'ya no está en la lista',
    otherAddress: 'sesión iniciada con otra dirección',
    refused: (reason) => `inicio de sesión no válido (${isolated(reason)})`,
    second: (who) => `segundo dispositivo, declarado por ${isolated(who)}`,
  },

  invitation: {
    title: 'Te han invitado a una sala',
    isFor: (who) => line`La invitación es para ${who}.`,
    signInHint:
      'El propietario te admitirá cuando hayas acreditado esta dirección. Tu inicio de sesión se sella en la sala, donde los demás pueden comprobarlo. El servicio de la sala no lo recibe.',
    signedIn: (email) => line`Has iniciado sesión como ${email}.`,
    next: 'Después el propietario admite este dispositivo. Solo este dispositivo con este navegador puede abrir la sala.',
    answer: 'Responder a la invitación',
    answering: 'Respondiendo…',
    used: 'Esta invitación ya no es válida',
    usedHint: 'Se respondió, se retiró o se copió incompleta. Pide otra.',
    unkept:
      'Este navegador no permite que la página guarde las claves de este dispositivo, quizá porque la ventana es privada. La sala solo se abriría hasta que cierres esta página.',
  },

  secondDevice: {
    waitTitle: '¿Es un segundo dispositivo tuyo?',
    waitHint: 'Abre este enlace en tu dispositivo que ya está en la sala, o escanéalo con él. No contiene ningún secreto.',
    firstHint:
      'Después usa tu dispositivo que ya está en la sala: en «Personas», elige «Añadir otro dispositivo tuyo» y abre en este dispositivo el enlace que muestra.',
    otherTitle: 'Este enlace es para otro dispositivo',
    other:
      'El segundo dispositivo creó este enlace para otro dispositivo: aquel cuyo enlace abrió. Abre este enlace en ese dispositivo. Si prefieres añadir el segundo dispositivo desde aquí, elige «Añadir otro dispositivo tuyo» en «Personas» y abre el enlace nuevo en el segundo dispositivo.',
    code: (code) => `Código de este dispositivo: ${isolated(code)}`,
    label: 'Enlace para tu primer dispositivo',
    title: 'Añade tu segundo dispositivo',
    hint: 'Añádelo solo si este enlace viene de un dispositivo que tienes en la mano y si ese dispositivo muestra el mismo código. Después lo admite el propietario de la sala. Lee lo que lees tú y sale de la sala contigo.',
    add: 'Es mi dispositivo',
    adding: 'Añadiendo…',
    done: 'El dispositivo se ha declarado',
    doneHint: 'El propietario de la sala lo admite.',
    back: 'Ir a la sala',
  },
  answered: {
    title: 'Has respondido a la invitación',
    text: 'La sala se abre aquí en cuanto su propietario te admita. También puedes volver más tarde, con el mismo navegador. Si tarda, pregunta al propietario.',
  },
  takenBack: {
    title: 'El servicio ya no acepta la invitación',
    text: 'El servicio dice que el propietario ha retirado la invitación a la que este dispositivo había respondido. Para entrar, pide otra al propietario.',
  },
  full: {
    title: 'La lista está llena',
    text: 'Caben hasta 100 dispositivos e invitaciones pendientes, y menos si hay muchas invitaciones pendientes. Retira invitaciones o quita dispositivos.',
  },
  waiting: {
    title: 'El servicio no deja entrar a este dispositivo',
    text: 'Si has respondido a una invitación, espera aquí: la sala se abre en cuanto su propietario te admita. Si no, pídele una invitación.',
  },
  removed: {
    title: 'El servicio ya no deja entrar a este dispositivo',
    text: 'El servicio ya no deja entrar a este dispositivo, como cuando el propietario lo quita, así que no lee nada más reciente. Solo lo dice el servicio: si lo dudas, habla con el propietario. Para volver, pídele una invitación nueva.',
  },

  checks: {
    recipients: 'Solo los dispositivos de la lista reciben la clave',
    recipientsText: (devices) =>
      plural(devices, {
        one: 'La lista más reciente sella la clave para # dispositivo, incluidas las invitaciones pendientes. No hay clave para el operador.',
        other:
          'La lista más reciente sella la clave para # dispositivos, incluidas las invitaciones pendientes. No hay clave para el operador.',
        many: 'La lista más reciente sella la clave para # de dispositivos, incluidas las invitaciones pendientes. No hay clave para el operador.',
      }),
    operator: 'El operador de un agente puede leer la sala',
    operatorText: (ids) =>
      `La lista más reciente da la clave al dispositivo del operador para ${list(ids)}. El propietario lo ha firmado. Cuando el agente se va, la clave cambia.`,
    unopened: (count) =>
      plural(count, {
        one: '# línea espera una clave de este dispositivo.',
        other: '# líneas esperan una clave de este dispositivo.',
        many: '# de líneas esperan una clave de este dispositivo.',
      }),
    lists: 'El propietario ha firmado cada lista',
    listsText: (lists, changes) =>
      `${plural(lists, { one: '# lista', other: '# listas', many: '# de listas' })}, ${plural(changes, { one: '# cambio de clave', other: '# cambios de clave', many: '# de cambios de clave' })}. Nadie salió de la lista sin un cambio de clave.`,
    authors: 'Cada mensaje está firmado por un dispositivo de la lista',
    authorsText: (count) =>
      plural(count, {
        one: 'Aquí se comprobó # firma.',
        other: 'Aquí se comprobaron # firmas.',
        many: 'Aquí se comprobaron # de firmas.',
      }),
  },
}
