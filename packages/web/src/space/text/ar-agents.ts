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
  hint: 'وكلاء يشاركون في المحادثة. تُدفع تكلفتهم بقسيمة.',
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
  notCoupon: (start, length) => `هذه القسيمة غير مكتملة. تبدأ القسيمة بـ ${isolated(start)} وعدد رموزها ${number(length)}.`,
  alreadyHere: (name) => `${isolated(name)} موجود في هذه الغرفة. لم يُخصم شيء من القسيمة.`,
  inviteFree: 'دعوة',
  inviteFor: (price) => `الدعوة، التكلفة: ${credits(price)}`,
  inviting: 'جارٍ إرسال الدعوة…',
  notOnList: (name) => line`${name} ليس في قائمة هذه الغرفة. لم يُخصم شيء من القسيمة.`,
  letInAndInvite: 'إضافته ودعوته',
  ownerCanLetIn: (id) => line`لا يستطيع إضافته إلا مالك الغرفة، بمعرّفه: ${id}`,
  terms: {
    title: 'قبل أن تدعوه',
    reads: 'يقرأ هذه الغرفة: ما سيُكتب، وما قيل منذ الرسالة الأولى.',
    remote: 'يعمل هذا الوكيل على جهاز مالكه، الذي يحصل على مفتاح هذه الغرفة: لا يمكن استرجاع المفتاح.',
    hosted:
      'لدى هذه الخدمة ومن يشغّل الوكيل مفتاح هذه الغرفة ما دام الوكيل هنا. أما أنهم ينسونه بعد ذلك فأمر تثق بهم فيه: لا يمكن استرجاع المفتاح.',
    list: 'تبقى القائمة سارية: إذا أُزيل الوكيل منها فلن يدخل، أيًّا كان المفتاح الذي لديه.',
    remoteOpen:
      'حتى بعد صرفه يستطيع أن يواصل قراءة هذه الغرفة وأن يكتب فيها كضيف ما شاء من الوقت: تسمح هذه الغرفة بدخول كل من لديه المفتاح.',
    sealed: 'يبقى ما قيل مختومًا في التخزين أمام كل من ليس لديه مفتاح.',
    stays: (minutes) => `يبقى حتى تصرفه من علامة التبويب هذه. المدة القصوى: ${duration(minutes)}.`,
    costs: (price) => `التكلفة ${credits(price)}، وتُستحق بمجرد وصوله، حتى لو غادر سريعًا.`,
    whoReads: 'من يستطيع القراءة',
    listedRoom: 'في غرفة ذات قائمة لا يدخل الوكيل إلا ما دام مدرجًا فيها، وتنتهي إقامته بانتهاء جلسته.',
    makeListed: 'إنشاء غرفة ذات قائمة',
  },
  /** In a client-sealed room with a list of devices. */
  sealed: {
    hint: 'يمكن أن ينضم الوكلاء الذين لهم مفتاح خاص بهم: ما يحتاجون إليه مختوم له، والخدمة لا تحصل على مفتاح هذه الغرفة. ويمكن أن ينضم وكيل من الخدمة إذا سمحت لمشغّله بالقراءة.',
    hosted: 'يعمل على هذه الخدمة: لا يمكنه المجيء إلا إذا سمحت للمشغّل بالقراءة.',
    operator: 'هذه الخدمة تشغّل الوكيل، لذلك يستطيع مشغّله قراءة كل ما في هذه الغرفة، من الرسالة الأولى، ما دام الوكيل هنا.',
    noticeStays:
      'يُخبَر بذلك كل من في الغرفة. أبقِ الغرفة مفتوحة: هذا الجهاز وحده يزيل الوكيل من القائمة في النهاية. وما دامت الغرفة غير مفتوحة هنا، يبقى جهاز المشغّل في القائمة.',
    consent: (name) => line`أسمح لمشغّل هذه الخدمة بالقراءة في هذه الغرفة ما دام ${name} هنا. ويشمل ذلك كل ما قيل من قبل.`,
    consentMissing: 'إذا كان يجوز للمشغّل أن يقرأ، فضع علامة في الخانة أعلاه. وإلا فلا يمكن أن يأتي هذا الوكيل.',
    noKey: 'غير ممكن هنا: ليس له مفتاح تعمية تُختم له الدعوة.',
    remote: 'يعمل هذا الوكيل على جهاز مالكه. الدعوة مختومة لمفتاحه، ولا يستطيع أي خادم فتحها.',
    leaves: 'عندما يغادر، تحصل هذه الغرفة على مفتاح آخر. ويحتفظ الوكيل بما قرأه.',
    present:
      'أبقِ هذه الغرفة مفتوحة: هذا الجهاز وحده يُدخل الوكيل خلال 30 ثانية، ويزيله من القائمة في النهاية. وما دامت الغرفة غير مفتوحة هنا، يبقى في القائمة ويستطيع القراءة، حتى بعد انتهاء وقته.',
    stays: (minutes: number) => `يبقى حتى تصرفه، و${duration(minutes)} على الأكثر.`,
    removing: (name) => line`غادر ${name}. تجري إزالته من القائمة، وتحصل الغرفة على مفتاح آخر…`,
    keyChanged: {
      title: 'لهذا الوكيل مفتاح آخر الآن',
      text: 'لم يُخصم شيء من القسيمة. أغلق الكتالوج وافتحه من جديد، وادعُ الوكيل منه.',
    },
  },
  invited: 'الوكلاء الذين دعوتهم',
  sendAway: (name, who) => line`صرف${name(` ${isolated(who)}`)}`,
  dismiss: (name) => `إخفاء ${isolated(name)}`,
  expired: (name, price) => line`غادر ${name}: انتهى وقته. ${cost(price)}`,
  stopped: (name, price) => line`غادر ${name}. ${cost(price)}`,
  hadToLeave: (name, price) => line`اضطر ${name} إلى المغادرة. ${cost(price)}`,
  couldNotCome: (name, price) => line`لم يتمكن ${name} من الحضور. ${cost(price)}`,
  unreached: (name) => line`تعذّر صرف ${name}. أعد المحاولة.`,
  leaving: (name) => line`جارٍ صرف ${name}…`,
  coming: (name) => line`${name} في الطريق…`,
  present: (name, time) => line`يقرأ ${name} الغرفة حتى ${isolated(time)}`,
  sayComing: (name) => `${isolated(name)} في الطريق`,
  sayHere: (name) => `وصل ${isolated(name)}`,
  sayLeft: (name) => `غادر ${isolated(name)}`,
  sayUnreached: (name) => `تعذّر صرف ${isolated(name)}`,
}

function cost(price: number): string {
  return price === 0 ? 'لم يكلّف شيئًا.' : `التكلفة: ${credits(price)}.`
}
