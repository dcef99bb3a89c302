import { isolated, line, plural } from './format.ts'
import type { Text } from './text.ts'

export const tools: Text['tools'] = {
  names: {
    claimed: (name) => `${isolated(name)} (ضيف)`,
    unverified: (keyName) => `ضيف غير موثَّق، ${isolated(keyName)}`,
    change: 'تغيير الاسم',
    title: 'اسمك كضيف',
    hint: 'لا يتحقق منه أحد. يرى الآخرون أنه اسم ضيف، ويرون بجانبه علامة هذا الجهاز.',
    label: 'الاسم',
    where: 'أين يسري',
    inRoom: 'في هذه الغرفة',
    everywhere: 'في كل الغرف على هذا الجهاز',
    everywhereHint: 'من يراه في غرفتين قد يتعرّف عليك.',
    save: 'حفظ الاسم',
    saved: (name) => `تكتب باسم ${isolated(name)}`,
    cleared: 'تكتب من دون اسم خاص بك',
    notAllowed: 'يجب ألا يحتوي الاسم على @ وألا يكون «أنت».',
  },

  messages: {
    actions: 'إجراءات الرسالة',
    copy: 'نسخ الرسالة',
    retract: 'سحب الرسالة',
    retractLabel: 'هل تريد سحب هذه الرسالة؟',
    retractHint: 'يخفيها التطبيق عن كل من يفتح الغرفة. يبقى سطرها المخزَّن، وتظل قراءته ممكنة بمفتاح الغرفة.',
    retractIt: 'سحبها',
    keepIt: 'الإبقاء عليها',
    hidden: 'سحبها كاتبها. يبقى السطر المخزَّن.',
    quoted: 'رسالة مسحوبة',
    notice: (name) => line`سحب ${name} رسالة.`,
    youNotice: 'سحبتَ رسالة.',
    unloaded: (name) => line`يطلب ${name} سحب رسالة غير محمَّلة هنا.`,
    spoken: (name) => `سحب ${isolated(name)} رسالة`,
    retracting: 'جارٍ سحب رسالة',
  },

  file: {
    form: 'التطبيق في ملف واحد',
    link: 'رابط غرفة أو عنوان خدمة Space',
    hint: 'تُخزَّن الغرف التي تنشئها في تلك الخدمة.',
    current: (origin) => line`تُخزَّن الغرف الجديدة في ${origin}.`,
    open: 'فتح',
    notLink: 'هذا ليس رابطًا كاملًا لغرفة ولا عنوان خدمة.',
    noSignIn: 'لا يمكن لملف أن يسجّل دخولك. استخدم صفحة الخدمة لمثل هذه الغرف.',
  },

  kept: {
    title: 'الغرف على هذا الجهاز',
    hint: 'يحفظ هذا المتصفح مفاتيح هذه الغرف: يستطيع كل من يستخدمه فتحها.',
    keep: 'الاحتفاظ بها على هذا الجهاز',
    keepHint: 'عندئذ يعرض هذا المتصفح الغرفة في صفحة البداية مع رابطها: يستطيع كل من يستخدم هذا المتصفح فتح الغرفة.',
    isKept: 'يعرض هذا المتصفح هذه الغرفة في صفحة البداية، مع رابطها.',
    nameLabel: 'اسم الغرفة، لهذا المتصفح فقط',
    name: 'تسمية الغرفة',
    nameHint: 'لتسمية غرفة، افتحها ثم اختر «المزيد».',
    startPage: 'صفحة البداية',
    forget: 'نسيان هذه الغرفة',
    forgetOne: (name, title) => line`نسيان${name(` ${isolated(title)}`)}`,
    forgetAll: 'نسيان الكل',
    forgetLabel: (title) => `نسيان ${isolated(title)}؟`,
    forgetAsk: 'يُحذف الرابط من هذا المتصفح. وإن لم تكن قد حفظته في مكان آخر فلن تستطيع العودة إلى الغرفة.',
    forgetIt: 'نسيانها',
    keepIt: 'الإبقاء عليها',
    forgetAllLabel: 'نسيان كل الغرف؟',
    forgetAllAsk: 'تُحذف روابط كل هذه الغرف من هذا المتصفح. ولن تستطيع العودة إلى غرفة لم تحفظ رابطها في مكان آخر.',
    keepAll: 'الإبقاء على الكل',
    saidKept: 'تم الاحتفاظ بالغرفة على هذا الجهاز',
    saidForgotten: (title) => `نُسيت ${isolated(title)} على هذا الجهاز`,
    saidAllForgotten: 'نُسيت كل الغرف على هذا الجهاز',
    opened: (when) => line`آخر فتح: ${when}`,
    othersHint: 'تذكر هذه القائمة أيضًا أسماء بعض الأعضاء الآخرين.',
    roomWith: (names) => `غرفة مع ${names}`,
    more: (count) =>
      plural(count, { zero: '# آخرين', one: 'شخص آخر', two: 'شخصين آخرين', few: '# آخرين', many: '# آخرين', other: '# آخرين' }),
    refused: 'لا يسمح هذا المتصفح للصفحة بتخزين أي شيء.',
    full: 'قائمة الغرف على هذا الجهاز ممتلئة. انسَ غرفة في صفحة البداية ثم أعد المحاولة.',
  },

  title: {
    heading: 'اسم الغرفة',
    label: 'اسم هذه الغرفة',
    save: 'تغيير اسم الغرفة',
    changed: (title) => `أصبح اسم الغرفة ${isolated(title)}`,
  },

  qr: {
    show: 'عرض رمز QR',
    hide: 'إخفاء رمز QR',
    image: 'رمز QR لرابط الغرفة',
    hint: 'لا تعرضه إلا على من تريد دخولهم.',
    tooLong: 'الرابط أطول من أن يتسع له رمز QR.',
  },

  agents: {
    title: 'الوكلاء',
    listHint: 'يستطيع الوكيل المشاركة بعد إدراجه في القائمة.',
    byId: 'هل تعرف معرّف وكيل؟',
    buyCoupon: (host) => `شراء قسيمة من ${isolated(host)}`,
  },

  spoken: {
    connected: 'عاد الاتصال',
    firstMessage: (name) => `يكتب ${isolated(name)} هنا لأول مرة`,
    earlier: (count) =>
      plural(count, {
        zero: 'لا رسائل سابقة',
        one: 'رسالة سابقة واحدة',
        two: 'رسالتان سابقتان',
        few: '# رسائل سابقة',
        many: '# رسالة سابقة',
        other: '# رسالة سابقة',
      }),
    sent: 'أُرسلت الرسالة',
    opened: (title, count) =>
      `${isolated(title)}، ${plural(count, {
        zero: 'لا رسائل',
        one: 'رسالة واحدة',
        two: 'رسالتان',
        few: '# رسائل',
        many: '# رسالة',
        other: '# رسالة',
      })}`,
  },
}
