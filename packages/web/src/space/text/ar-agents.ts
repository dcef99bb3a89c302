import { duration, isolated, line, number, plural } from './format.ts'
import type { Text } from './text.ts'

const credits = (count: number) =>
  plural(count, {
    zero: '# رصيد',
    one: 'رصيد واحد',
    two: 'رصيدان',
    few: '# أرصدة',
    many: '# رصيدًا',
    other: '# رصيد',
  })

/** Of inviting agents, and of those that were invited. */
export const agents: Text['agents'] = {
  invite: 'دعوة وكيل',
  hint: 'يشارك الوكلاء في المحادثة. تُدفع تكلفتهم بقسيمة.',
  choose: (name, who) => line`اختيار${name(` ${isolated(who)}`)}`,
  fetchingCatalog: 'جارٍ تحميل الكتالوج…',
  noAgents: 'لا يوجد وكلاء في الكتالوج.',
  fetching: 'جارٍ التحميل…',
  moreAgents: (count) =>
    plural(count, {
      zero: 'لا وكلاء آخرين',
      one: 'وكيل إضافي واحد',
      two: 'وكيلان إضافيان',
      few: '# وكلاء إضافيين',
      many: '# وكيلًا إضافيًا',
      other: '# وكيل إضافي',
    }),
  all: 'كل الوكلاء',
  free: 'مجاني',
  price: (count) => credits(count),
  upTo: (minutes) => `المدة القصوى: ${duration(minutes)}`,
  rated: (average, count) =>
    `التقييم ${average} من ${number(5)}، ${plural(count, {
      zero: 'بلا تقييمات',
      one: 'تقييم واحد',
      two: 'تقييمان',
      few: '# تقييمات',
      many: '# تقييمًا',
      other: '# تقييم',
    })}`,
  coupon: 'القسيمة',
  couponHint: 'تُرسل إلى الخدمة التي ترسل الوكيل. لا يحتفظ بها هذا المتصفح.',
  notCoupon: (start, length) => `هذه القسيمة غير مكتملة. تبدأ القسيمة بـ ${isolated(start)} وعدد أحرفها ${number(length)}.`,
  alreadyHere: (name) => `${isolated(name)} موجود بالفعل في هذه الغرفة. لم يُخصم شيء من القسيمة.`,
  inviteFree: 'دعوة',
  inviteFor: (price) => `دعوة (${credits(price)})`,
  inviting: 'جارٍ إرسال الدعوة…',
  notOnList: (name) => line`${name} ليس في قائمة هذه الغرفة. لم يُخصم شيء من القسيمة.`,
  letInAndInvite: 'إضافته ودعوته',
  ownerCanLetIn: (id) => line`لا يستطيع إضافته إلا مالك الغرفة، بمعرّفه: ${id}`,
  terms: {
    title: 'قبل أن تدعوه',
    reads: 'يقرأ كل ما في هذه الغرفة، منذ الرسالة الأولى.',
    remote: 'يعمل هذا الوكيل على جهاز مالكه، ويحصل مالكه على مفتاح هذه الغرفة. لا يمكن استرجاع المفتاح.',
    hosted:
      'لدى هذه الخدمة ومشغّل الوكيل مفتاح هذه الغرفة ما دام الوكيل هنا. وعليك أن تثق بأنهما ينسيانه بعد ذلك: لا يمكن استرجاع المفتاح.',
    list: 'تبقى القائمة سارية: إذا أُزيل الوكيل منها فلن يدخل، أيًّا كان المفتاح الذي لديه.',
    remoteOpen: 'بعد إخراجه يستطيع أن يواصل قراءة هذه الغرفة والكتابة فيها كضيف: تسمح هذه الغرفة بدخول كل من لديه المفتاح.',
    sealed: 'يبقى ما قيل مختومًا في التخزين أمام كل من ليس لديه المفتاح.',
    stays: (minutes) => `يبقى حتى تُخرجه من علامة التبويب هذه. المدة القصوى: ${duration(minutes)}.`,
    costs: (price) => `التكلفة ${credits(price)}، وتُستحق بمجرد انضمامه، حتى لو غادر سريعًا.`,
    whoReads: 'من يستطيع القراءة',
    listedRoom: 'في غرفة ذات قائمة لا يدخل الوكيل إلا ما دام مدرجًا فيها، وتنتهي إقامته بانتهاء جلسته.',
    makeListed: 'إنشاء غرفة ذات قائمة',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'يمكن أن ينضم الوكلاء الذين لهم مفتاح خاص بهم: ما يحتاجون إليه مختوم له، والخدمة لا تحصل على مفتاح هذه الغرفة. ويمكن أن ينضم وكيل من الخدمة إذا سمحت لمشغّله بقراءة الرسائل.',
    hosted: 'يعمل على هذه الخدمة: لا يمكنه الانضمام إلا إذا سمحت للمشغّل بقراءة الرسائل.',
    operator: 'هذه الخدمة تشغّل الوكيل، لذلك يستطيع مشغّله قراءة كل ما في هذه الغرفة، منذ الرسالة الأولى، ما دام الوكيل هنا.',
    noticeStays:
      'يُخبَر بذلك كل من في الغرفة. أبقِ الغرفة مفتوحة: هذا الجهاز وحده يزيل الوكيل من القائمة في النهاية. وما دامت الغرفة غير مفتوحة هنا، يبقى جهاز المشغّل في القائمة.',
    consent: (name) => line`أسمح لمشغّل هذه الخدمة بقراءة الرسائل في هذه الغرفة ما دام ${name} هنا. ويشمل ذلك كل ما قيل من قبل.`,
    consentMissing: 'إذا كنت تسمح للمشغّل بقراءة الرسائل، فضع علامة في الخانة أعلاه. وإلا فلا يمكن أن ينضم هذا الوكيل.',
    noKey: 'غير ممكن هنا: ليس له مفتاح تشفير تُختم له الدعوة.',
    remote: 'يعمل هذا الوكيل على جهاز مالكه. الدعوة مختومة لمفتاحه، ولا يستطيع أي خادم فتحها.',
    leaves: 'عندما يغادر، تحصل هذه الغرفة على مفتاح آخر. ويحتفظ الوكيل بما قرأه.',
    // The digits are those of the reader's country, which is not known yet while this file is read.
    get present() {
      return `أبقِ هذه الغرفة مفتوحة: هذا الجهاز وحده يسمح بدخول الوكيل، خلال ${number(30)} ثانية، ويزيله من القائمة في النهاية. وما دامت الغرفة غير مفتوحة هنا، يبقى الوكيل في القائمة ويستطيع قراءة الرسائل، حتى بعد انتهاء وقته.`
    },
    stays: (minutes: number) => `يبقى حتى تُخرجه. المدة القصوى: ${duration(minutes)}.`,
    removing: (name) => line`غادر ${name}. تجري إزالته من القائمة، وتحصل الغرفة على مفتاح آخر…`,
    keyChanged: {
      title: 'لهذا الوكيل مفتاح آخر الآن',
      text: 'لم يُخصم شيء من القسيمة. أغلق الكتالوج وافتحه من جديد، وادعُ الوكيل منه.',
    },
  },
  invited: 'الوكلاء الذين دعوتهم',
  sendAway: (name, who) => line`إخراج${name(` ${isolated(who)}`)}`,
  dismiss: (name) => `إخفاء ${isolated(name)}`,
  expired: (name, price) => line`غادر ${name}: انتهى وقته. ${cost(price)}`,
  stopped: (name, price) => line`غادر ${name}. ${cost(price)}`,
  hadToLeave: (name, price) => line`اضطر ${name} إلى المغادرة. ${cost(price)}`,
  couldNotCome: (name, price) => line`لم يتمكن ${name} من الحضور. ${cost(price)}`,
  unreached: (name) => line`تعذّر إخراج ${name}. أعد المحاولة.`,
  leaving: (name) => line`جارٍ إخراج ${name}…`,
  coming: (name) => line`${name} في الطريق…`,
  present: (name, time) => line`يقرأ ${name} الرسائل حتى ${isolated(time)}`,
  sayComing: (name) => `${isolated(name)} في الطريق`,
  sayHere: (name) => `وصل ${isolated(name)}`,
  sayLeft: (name) => `غادر ${isolated(name)}`,
  sayUnreached: (name) => `تعذّر إخراج ${isolated(name)}`,
}

function cost(price: number): string {
  return price === 0 ? 'لم يكلّف شيئًا.' : `التكلفة: ${credits(price)}.`
}
