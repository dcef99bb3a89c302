import type { Extra, StyleName, Time, Weather } from './reading.ts'

export const TIME_WORDS: ReadonlyArray<readonly [Time, string]> = [
  [
    'night',
    'night* nocturn* midnight moonlit moonlight starry nacht* mitternacht nuit* minuit noche* medianoche notte mezzanotte noite ночь ночью ночн* полноч* 夜 深夜 밤 ليل ليلة לילה रात',
  ],
  [
    'dusk',
    'dusk sunset* twilight evening* nightfall dammerung abend* sonnenuntergang* crepuscule* soir* coucher atardecer* ocaso tarde crepusculo tramonto* sera entardecer закат* сумерк* вечер* 夕焼け 夕暮れ 黄昏 日落 傍晚 노을 저녁 غروب مساء שקיעה ערב शाम सूर्यास्त',
  ],
  [
    'dawn',
    'dawn* sunrise* daybreak morgen* sonnenaufgang* aube* aurore amanecer* madrugada alba aurora amanhecer рассвет* утр* 朝 夜明け 朝焼け 日出 黎明 새벽 아침 فجر شروق זריחה שחר सुबह भोर',
  ],
  [
    'day',
    'day daylight noon midday sunny sunshine bright mittag* sonnig* jour midi ensoleille* dia mediodia soleado giorno mezzogiorno sole soleggiat* ensolarad* день дня днем полдень солнечн* 昼 真昼 晴れ 白天 晴天 낮 맑은 نهار مشمس צהריים יום दिन धूप',
  ],
]

export const WEATHER_WORDS: ReadonlyArray<readonly [Weather, string]> = [
  [
    'storm',
    'storm* tempest* thunder* gewitter* sturm* orage* tempete* tormenta* temporale* tempesta tempestade* шторм* гроз* бур* 嵐 暴風雨 风暴 폭풍 عاصفة סערה तूफ़ान तूफान',
  ],
  [
    'rain',
    'rain* rainy drizzle* regen* pluie* pluvieux lluvia* lluvioso pioggia* piovos* chuva* дожд* 雨 비 مطر גשם बारिश umbrella* parapluie* regenschirm* paraguas ombrello 傘',
  ],
  [
    'mist',
    'mist* misty fog* foggy haze hazy nebel* brume* brouillard* niebla* bruma* nebbia* neblina туман* 霧 雾 안개 ضباب ערפל कोहरा',
  ],
  [
    'snow',
    'snowing snowfall snowy snowstorm blizzard schneefall schneit neige* nevando nevicata nevada снегопад* 吹雪 雪 눈 ثلج שלג बर्फ',
  ],
]

export const SNOW_WORDS =
  'snow* winter* frozen ice icy christmas xmas schnee* verschneit* eis weihnacht* neige* hiver noel nieve* invierno navidad neve* inverno natale natal зим* снег* снеж* 冬 雪 겨울 눈 شتاء ثلج חורף שלג सर्दी बर्फ'
export const WARM_WORDS =
  'warm* golden cosy cozy glow* amber orange heat summer* sommer* warme golden* chaud* dore* ete calido* dorado* verano caldo dorat* estate тепл* золот* лет* 暖かい 夏 温暖 따뜻한 دافئ חם गर्म'
export const COLD_WORDS =
  'cold* icy cool blue frost* frozen kalt* kuhl* frostig* froid* bleu* frio* helado* azul freddo blu холодн* мороз* синий 寒い 冷たい 寒冷 차가운 بارد קר ठंड*'
export const CALM_WORDS =
  'calm* quiet* silent peaceful serene tranquil* ruhig* still* friedlich* calme* paisible* tranquil* sereno* calmo tranquill* спокойн* тих* 静か 静けさ 宁静 고요 هادئ שקט शांत'

export const STYLE_WORDS: ReadonlyArray<readonly [StyleName, string]> = [
  [
    'woodblock',
    'woodblock* woodcut* ukiyo* hokusai* hiroshige* holzschnitt* xylograph* xilograf* гравюр* 浮世絵 版画 木版画 목판화',
  ],
  [
    'linocut',
    'linocut* lino linoleum* engraving* engraved etching* scratchboard linolschnitt* kupferstich* linogravure* gravure* linograbado* grabado* linoleografia incisione линогравюр*',
  ],
  [
    'poster',
    'poster* bauhaus* geometric* minimal* minimalis* vector deco plakat* geometrisch* affiche* geometrique* cartel* geometric* manifesto* geometrico плакат* ポスター 海报 포스터',
  ],
  [
    'riso',
    'riso* risograph* halftone* screenprint* screen-print* silkscreen* retro vintage siebdruck* serigraph* serigraf* zine',
  ],
  [
    'paper',
    'papercut* paper-cut cutout* cut-out origami collage* scherenschnitt* papierschnitt* decoupe* recorte* ritagliat* 切り絵 剪纸 종이',
  ],
  [
    'ink',
    'ink sumi* sumi-e brushwork brush-stroke* calligraph* tusche* tuschezeichnung encre* tinta inchiostro тушь* 墨 水墨 水墨画 墨絵 수묵화 monochrome',
  ],
  [
    'glass',
    'stained mosaic* stained-glass glasmalerei* buntglas* kirchenfenster mosaik* vitrail* vitraux mosaique* vidriera* mosaico* vetrata витраж* мозаик* ステンドグラス 彩色玻璃 스테인드글라스',
  ],
  [
    'gouache',
    'gouache* watercolor* watercolour* oil aquarell* aquarelle* acuarela* pintura acquerell* акварел* 水彩 油絵 수채화',
  ],
]

export const EXTRA_WORDS: ReadonlyArray<readonly [Extra, string]> = [
  ['robin', 'robin* rotkehlchen rouge-gorge petirrojo pettirosso зарянк* コマドリ 知更鸟'],
  [
    'birds',
    'bird birds gull gulls swallow* geese crane vogel mowe* oiseau* mouette* pajaro* gaviota* uccell* gabbian* птиц* чайк* 鳥 鸟 새 طيور ציפורים पक्षी',
  ],
  ['moon', 'moon moonlit moonlight mond mondlicht lune luna lua луна луны луной луне 月 달 قمر ירח चाँद चांद'],
  ['sun', 'sun sunny sonne soleil sol sole солнце 太陽 太阳 해 شمس שמש सूरज'],
  [
    'stars',
    'star stars starry milky galaxy stern sterne sternenhimmel etoile* estrella* stella stelle estrela* звезд* звёзд* 星 별 نجوم כוכבים तारे',
  ],
  [
    'lanterns',
    'lantern* laterne* lampion* lanterne* linterna* farolillo* lanterna* фонар* 灯籠 提灯 灯笼 등불 فانوس פנס लालटेन lights festival*',
  ],
  ['balloon', 'balloon* heissluftballon* ballon* montgolfiere* globo* mongolfier* шар шары 気球 热气球 풍선'],
  ['cat', 'cat cats kitten* katze* gato* gatto gatti кот кошк* 猫 고양이 قطة חתול बिल्ली'],
  [
    'house',
    'house houses cottage* cabin* hut home haus hutte* maison* cabane* casa cabana* cabin* дом дома изба 家 小屋 집 بيت בית घर farm*',
  ],
  ['bridge', 'bridge* brucke* pont ponts puente* ponte ponti мост* 橋 桥 다리 جسر גשר पुल'],
  ['windmill', 'windmill* windmuhle* moulin* molino* mulino мельниц* 風車 风车 풍차 mill'],
  [
    'water',
    'lake* water river* reflection* pond lac lago fluss wasser riviere* rio eau agua acqua озер* рек* вод* 湖 水 川 호수 물 بحيرة ماء אגם מים झील नदी पानी',
  ],
  ['autumn', 'autumn* fall herbst* automne* otono* autunno outono осен* 秋 가을 خريف סתיו पतझड़ october november'],
  ['deer', 'deer stag fawn hirsch reh cerf ciervo cervo олень 鹿 사슴 غزال צבי हिरण'],
]

/** By the kind that the painter can draw. */
export const FLOWER_WORDS: ReadonlyArray<readonly [string, string]> = [
  ['poppy', 'poppy poppies mohn* coquelicot* amapola* papaver* мак маки маков ポピー 罂粟'],
  ['daisy', 'daisy daisies ganseblum* marguerite* paquerette* margarita* margherit* ромашк* デイジー 雏菊'],
  ['tulip', 'tulip* tulpe* tulipe* tulipan* тюльпан* チューリップ 郁金香'],
  ['lavender', 'lavender* lavendel* lavande* lavanda* лаванд* ラベンダー 薰衣草'],
  ['cosmos', 'cosmos rose roses peony peonies rosa rosen роз* 薔薇 秋桜 玫瑰'],
  ['cornflower', 'cornflower* kornblume* bleuet* bluebell* violet* василек* василёк*'],
  ['sunflower', 'sunflower* sonnenblume* tournesol* girasol* girasole* подсолнух* ひまわり 向日葵'],
]
