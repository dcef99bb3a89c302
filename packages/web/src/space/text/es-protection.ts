import { isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

export const protection: Text['protection'] = {
  title: 'Qué protege a esta sala',
  stored: 'Lo que se guarda',
  storedBy: 'Quién lo guarda',
  trusted: 'En qué confías',
  checking: 'Comprobando…',
  checkAgain: 'Comprobar de nuevo',
  failedTitle: (count) =>
    plural(count, {
      one: 'Ha fallado una comprobación',
      many: 'Han fallado # de comprobaciones',
      other: 'Han fallado # comprobaciones',
    }),
  failed: 'Algo va mal. Lee abajo qué es y no escribas aquí nada importante hasta que se resuelva.',
  busy: 'Lo hace tu propio navegador, aquí y ahora.',
  openTitle: 'No se ha podido comprobar todo',
  open: (proved, trusted, open) =>
    `Demostrado: ${number(proved)}; requiere confianza: ${number(trusted)}; sin comprobar: ${number(open)}.`,
  provedTitle: (proved, trusted) => `Demostrado: ${number(proved)}; requiere confianza: ${number(trusted)}`,
  proved: 'Comprobado por tu navegador, aquí y ahora. No ha fallado nada.',
  verdicts: { proved: 'Demostrado', trusted: 'Requiere confianza', failed: 'Ha fallado', unknown: 'Sin comprobar' },
  found: (verdict, words) => line`${verdict}. ${words}`,
  perhapsOffline: 'Quizá no tengas conexión. Compruébalo de nuevo en un momento.',
  roomUnreachable: 'No se han podido cargar los bytes guardados',
  roomUnchecked: 'Ahora no se ha comprobado si se han alterado líneas ni quién puede abrirlas.',
  certificateUnreachable: 'No se ha podido cargar el certificado del servicio',
  certificateUnchecked:
    'Ahora no se han comprobado la clave, la compilación, el código fuente ni el registro público del servicio.',
  acceptKey: 'Sé por qué: aceptar esta clave a partir de ahora',
  outside: 'Desde fuera',
  outsideHint:
    'Las mismas comprobaciones con un programa propio, que también comprueba los scripts de la página y vuelve a compilar el código fuente:',
  command: 'Comando',
  program: (link) =>
    line`El programa es un solo archivo y su hash está entre las ${link('descargas')}. Compara el hash con el de alguien de confianza.`,
  kinds:
    'En otras salas, cada petición da la clave al servicio un momento, para que puedan participar agentes. En esta sala no puede ninguno.',

  running: {
    title: 'La máquina ejecuta la compilación que indica',
    text: 'Una firma muestra quién lo dice, no que sea cierto. Aquí confías en el operador.',
  },
  key: {
    title: 'El servicio nunca recibe tu clave',
    text: 'Esta página sella y abre ella misma cada mensaje. Firma sus peticiones con otra clave, cuya parte pública conoce el servicio.',
  },
  memory: {
    title: 'El servicio olvida tu clave después de cada respuesta',
    text: 'Para leer o escribir necesita la clave un momento. Su código fuente muestra que nunca la guarda. Confías en que ese código sea el que se ejecuta.',
  },
  page: {
    title: 'Esta página es la publicada',
    text: 'Una página no puede responder por sí misma. El comando de abajo comprueba desde fuera sus scripts y todo lo anterior.',
  },
  agents: {
    title: 'Quien haya operado un agente aquí ha olvidado la clave',
    text: 'Un agente no puede leer sin la clave de la sala. Nadie puede comprobar si se conservó después de irse el agente.',
  },

  bytes: {
    proved: 'Lo guardado es lo que dice el servicio',
    failed: 'Los bytes guardados no son los que dice el servicio',
    text: (count, hash) =>
      `${plural(count, { one: '# byte', many: '# de bytes', other: '# bytes' })}, SHA-256 ${isolated(`${hash}…`)}`,
  },
  recipients: {
    proved: 'Solo la clave de la sala puede abrirlo',
    provedText: 'Cada línea nombra un destinatario: quien tiene el enlace. No hay ninguna clave para el operador.',
    directText: 'Cada línea está sellada con una clave que solo da el enlace. No se guarda ninguna clave junto a ella.',
    failed: 'Alguien más puede abrirlo',
    failedText: (names) => `Otros destinatarios: ${isolated(names)}.`,
  },
  opens: {
    proved: 'Tu clave lo abre todo',
    provedText: (count) =>
      plural(count, {
        one: 'Se ha abierto # línea sellada en este dispositivo. Para ello no se ha enviado la clave.',
        many: 'Se han abierto # de líneas selladas en este dispositivo. Para ello no se ha enviado la clave.',
        other: 'Se han abierto # líneas selladas en este dispositivo. Para ello no se ha enviado la clave.',
      }),
    failed: 'Tu clave no lo abre todo',
    failedText: 'Al menos una línea guardada está dañada o se selló con otra clave.',
  },
  chain: {
    proved: 'Nada se ha modificado, omitido ni insertado',
    provedText:
      'Cada línea contiene el hash de la anterior, desde la primera hasta la última que se mostró a esta página, ahora y en tu última visita.',
    failed: 'El historial se ha modificado',
    breaks: (line) => `La cadena se rompe en la línea ${number(line)}.`,
    shorter: 'No contiene la última línea que se mostró a este navegador.',
  },
  seen: {
    title: 'Todos los autores vieron este historial',
    text: 'Cada mensaje nombra la última línea que su autor había leído, con su hash. Todas están aquí.',
  },
  shown: {
    proved: 'Se te ha mostrado lo que está guardado',
    provedText: (count) =>
      plural(count, {
        one: 'Se ha comparado # mensaje de esta página con el sellado, palabra por palabra.',
        many: 'Se han comparado # de mensajes de esta página con los sellados, palabra por palabra.',
        other: 'Se han comparado # mensajes de esta página con los sellados, palabra por palabra.',
      }),
    failed: 'Se te ha mostrado algo que no está guardado',
    failedText: (count, first) =>
      `${plural(count, { one: 'Difiere # mensaje.', many: 'Difieren # de mensajes.', other: 'Difieren # mensajes.' })} El primero es el número ${number(first)}.`,
  },
  certificate: {
    proved: 'El certificado de la compilación está firmado',
    failed: 'El certificado de la compilación no es auténtico',
    text: (service, commit, code) => `${isolated(service)}, commit ${isolated(commit)}, código ${isolated(`${code}…`)}`,
  },
  pin: {
    first: 'Es la primera vez que este navegador ve la clave',
    firstText: (key) =>
      `${isolated(key)} se recuerda desde ahora, para que este navegador note un cambio. Compárala con lo que el operador publica en otro lugar.`,
    same: 'Es la misma clave que antes',
    sameText: (key, day) => `${isolated(key)}, conocida por este navegador desde el ${day}.`,
    changed: 'La clave del servicio ha cambiado',
    changedText: (key, day) =>
      `Desde el ${day} era otra; ahora es ${isolated(key)}. Si el operador no lo ha anunciado, no escribas aquí.`,
  },
  source: {
    proved: 'El código fuente publicado es el que indica el certificado',
    failed: 'El código fuente publicado no es el que indica el certificado',
    text: (kilobytes) => `${number(kilobytes)} KB que cualquiera puede leer y compilar.`,
    unreachable: 'No se ha podido cargar el código fuente',
    unreachableText: 'Inténtalo de nuevo cuando tengas conexión.',
  },
  attest: {
    proved: 'El servicio en ejecución tiene esa clave e indica la misma compilación',
    provedText: 'Ha firmado un número aleatorio que este navegador acaba de generar.',
    failed: 'El servicio en ejecución no es el certificado',
    unsigned: 'Su respuesta no está firmada con la clave del certificado.',
    stale: 'Su respuesta es antigua.',
    otherBuild: 'Indica otra compilación.',
    unreachable: 'El servicio en ejecución no ha respondido',
    unreachableText:
      'Ahora no se ha comprobado si tiene esa clave e indica la misma compilación. Compruébalo de nuevo en un momento.',
  },
  log: {
    unreachable: 'No se puede acceder al registro público',
    unreachableText:
      'Ahora no está comprobado si todos ven el mismo certificado y la misma página. Vuelve a comprobarlo en un momento.',
    notCompared: 'Lo que se te muestra no se ha comparado con el registro público',
    broken: 'El registro público se contradice',
    brokenText: 'Una firma o una prueba no es correcta. No escribas nada aquí hasta que el operador lo explique.',
    first: 'Este navegador ve el registro público por primera vez',
    firstText: (entries: number) =>
      `${plural(entries, { one: '# entrada', many: '# de entradas', other: '# entradas' })}. Se recuerdan, para que este navegador note si alguna se quita o se cambia.`,
    same: 'El registro público continúa lo que vio este navegador',
    sameText: (before: number, now: number) =>
      `Tenía ${plural(before, { one: '# entrada', many: '# de entradas', other: '# entradas' })} y ahora tiene ${number(now)}. No se quitó ni se cambió ninguna.`,
    rolledBack: 'El registro público volvió atrás',
    rolledBackText: 'Faltan entradas que este navegador vio. El operador restauró una copia antigua u oculta algo.',
    forked: 'El registro público fue reescrito',
    forkedText: 'Muestra un historial distinto al de antes. Quizá a otros se les muestra otro certificado que a ti.',
    other: 'Es otro registro público',
    otherText: (name: string) => `Ahora se llama ${isolated(name)}. Si el operador no lo anunció, no escribas aquí.`,
    has: 'El registro público tiene lo que se te muestra',
    hasText: (epochs: number) =>
      plural(epochs, {
        one: 'Certificado, página y # clave de tokens ciegos, como los ven todos los demás.',
        many: 'Certificado, página y # de claves de tokens ciegos, como los ven todos los demás.',
        other: 'Certificado, página y # claves de tokens ciegos, como los ven todos los demás.',
      }),
    olderText: (epochs: number) =>
      plural(epochs, {
        one: 'No se ha comparado # clave más antigua.',
        many: 'No se han comparado # de claves más antiguas.',
        other: 'No se han comparado # claves más antiguas.',
      }),
    unread: 'No se han comparado todas las claves de tokens ciegos',
    unreadText: 'Su lista es incorrecta o no se leyó hasta el final. No compres tokens antes de que se comparen.',
    lacks: 'El registro público no tiene lo que se te muestra',
    lacksText: (what: string) => `Falta después de dos minutos: ${what}. Quizá se te muestra algo que otros no ven.`,
    notYet: 'El registro público aún no tiene esto',
    notYetText: (what: string) =>
      `Aún no está: ${what}. Lo nuevo se registra en un plazo de dos minutos. Vuelve a comprobarlo entonces.`,
    certificate: 'el certificado',
    page: 'esta página',
    epoch: 'una clave de tokens ciegos',
    witnessed: 'Otros vigilan el registro público',
    witnessedText: (names: string) => `Cofirmado por ${isolated(names)}: vieron el mismo registro que tú.`,
    fewWitnesses: 'El registro público no está confirmado por testigos',
    fewWitnessesText: 'Nombra testigos, pero no lo han cofirmado suficientes. Vuelve a comprobarlo en un momento.',
    noWitness: 'El registro público no está confirmado por testigos',
    noWitnessText: 'Nadie más confirma que todos ven el mismo registro. Para eso confías en el operador, o comparas con otros.',
  },
}
