import type { Subject } from './reading.ts'

/**
 * Words for each subject, in lower case without accents. A star stands for any ending or any beginning. In scripts
 * without spaces, a word matches anywhere.
 */
export const SUBJECT_WORDS: ReadonlyArray<readonly [Subject, number, string]> = [
  [
    'harbour',
    1,
    '*hafen harbour* harbor* port quay* dock docks pier jetty marina fisherm* fishing hafen hafens kai fischer* puerto muelle porto porti molo quai bassin haven порт гавань пристань 港 港口 漁港 碼頭 码头 항구 ميناء נמל बंदरगाह',
  ],
  [
    'sea',
    1,
    'sea seas ocean* coast* shore* beach* island* wave waves cliff* surf meer meeres kuste* strand insel* welle* klippe* mer plage cote ile ocean vague* falaise* mar playa costa isla ola olas oceano mare spiaggia isola onda onde praia ilha zee kust море океан берег остров волн* 海 大海 海岸 海辺 波 島 海边 海滩 바다 해변 섬 파도 بحر شاطئ ים חוף समुद्र सागर',
  ],
  [
    'sea',
    0.6,
    'boat boats ship ships sail sails sailing sailboat* yacht* schiff* boot boote segel* bateau* voilier* navire* barco* velero* barca* vela лодк* кораб* парус* 船 舟 帆 배 قارب سفينة סירה ספינה नाव lighthouse* leuchtturm* phare* faro faros farol маяк* 灯台 灯塔 등대 منارة מגדלור whale*',
  ],
  [
    'mountains',
    1,
    '*berge *gebirge mountain* peak peaks alp alps alpine summit* glacier* volcano* himalaya* fjord* hill-top berg berge bergen gebirge* gipfel alpen vulkan* montagne* sommet* volcan* montana* monte montes cumbre sierra andes montagna montagne vetta montanha* гор горы гора вулкан* 山 山脈 山々 富士 高山 산 جبل جبال הר הרים पहाड़ पर्वत',
  ],
  ['mountains', 0.6, '*see lake lakes lac lago laghi seeufer bergsee озер* 湖 호수 بحيرة אגם झील'],
  [
    'forest',
    1,
    '*wald *walder forest* wood woods woodland* jungle* grove* redwood* wald walds wald* walder foret* bois jungle bosque* selva foresta foreste floresta* bos лес лесу лесной роща 森 森林 林 竹林 숲 غابة יער जंगल वन',
  ],
  ['forest', 0.5, 'deer fox fern* moss mushroom* hirsch reh fuchs cerf renard ciervo zorro cervo олень 鹿 사슴 غزال צבי हिरण'],
  [
    'city',
    1,
    '*stadt city cities skyline* skyscraper* downtown metropol* urban town-skyline stadt* grossstadt* hochhaus* ville villes gratte-ciel ciudad* rascacielos citta grattaciel* cidade* город* небоскреб* 城市 都市 都会 東京 摩天楼 도시 مدينة עיר शहर tokyo manhattan york london paris berlin',
  ],
  [
    'street',
    1,
    '*strasse *gasse street* alley* square market* cafe cafes pavement sidewalk* strasse* gasse* platz markt* rue ruelle* marche* calle* callejon plaza mercado* vicolo piazza mercato rua praca улиц* площад* рынок 通り 路地 街 市場 街道 小巷 거리 골목 شارع سوق רחוב שוק सड़क गली बाज़ार canal* gracht* umbrella* parapluie* regenschirm* paraguas ombrello зонт* 傘 雨伞 우산',
  ],
  [
    'garden',
    1,
    '*garten *wiese garden* meadow* flowerbed* garten* wiese* jardin* prairie* jardin jardines prado* giardin* prato jardim jardins tuin сад саду луг 庭 庭園 花園 花园 花畑 정원 حديقة גן बगीचा बाग',
  ],
  [
    'garden',
    0.8,
    '*blume *blumen *bluten sunflower* flower* blossoming poppy poppies daisy daisies tulip* lavender* sunflower* rose roses peony spring butterfl* blume* bluten* mohn* tulpe* fruhling* schmetterling* fleur* coquelicot* tulipe* printemps papillon* flor flores amapola* tulipan* primavera mariposa* fiore fiori papaver* tulipan* farfall* цвет* мак маки тюльпан* весн* бабочк* 花 薔薇 春 꽃 봄 زهور ورد ربيع פרחים פרח אביב फूल वसंत',
  ],
  [
    'lanterns',
    1,
    '*laternen *lampions lantern* festival* laterne* lampion* lanterne* linterna* farolillo* lanterna* фонар* 灯籠 提灯 灯笼 燈籠 祭り 등불 연등 فانوس فوانيس פנס फ़ानूस लालटेन दीप दिवाली diwali loy krathong',
  ],
  [
    'nightsky',
    1,
    'milky galaxy galaxies cosmos universe space stargaz* constellation* aurora* nightsky sternenhimmel milchstrasse galaxie* galaxia* via-lactea universo космос галактик* вселенн* 星空 夜空 銀河 宇宙 은하수 우주 مجرة फ़लक आकाशगंगा גלקסיה',
  ],
  [
    'nightsky',
    0.55,
    'star stars starry moon moonlit moonlight sky comet stern sterne mond mondlicht himmel etoile* lune ciel estrella* luna cielo stella stelle cielo estrela* lua ceu звезд* звёзд* луна луны луной небо 星 月 空 별 달 하늘 نجوم قمر سماء כוכבים ירח שמיים तारे चाँद चांद आकाश tent camping zelt tente',
  ],
  [
    'desert',
    1,
    '*wuste desert* dune dunes sahara oasis canyon* wuste* dunen desert desierto* duna* deserto* oasi caravan* karawan* camel* kamel* chameau* camello* cammell* пустын* дюн* верблюд* 砂漠 沙漠 砂丘 ラクダ 骆驼 사막 صحراء جمل מדבר גמל रेगिस्तान मरुस्थल ऊँट',
  ],
  [
    'village',
    1,
    '*dorf village* hamlet* cottage* dorf* dorfer chalet* pueblo* aldea* villaggio* aldeia* dorp деревн* село 村 村庄 마을 قرية כפר गाँव गांव church* kirche* eglise* iglesia* chiesa* igreja* церк* 教会 교회',
  ],
  [
    'village',
    0.7,
    'winter* snow* snowy christmas xmas weihnacht* schnee* verschneit* hiver neige* noel invierno nieve* navidad inverno neve* natale natal зим* снег* снеж* 冬 雪 겨울 눈 شتاء ثلج חורף שלג सर्दी बर्फ house houses home haus hauser maison* casa casas дом дома 家 房子 집 بيت בית घर',
  ],
  [
    'street',
    0.7,
    'rain rainy raining regen* regnerisch* pluie* lluvia* pioggia* chuva* дожд* 雨 비 مطر גשם बारिश cat cats katze* gato* gatto gatti кот кошк* 猫 고양이 قطة חתול बिल्ली people crowd dancing',
  ],
  [
    'bough',
    1,
    'robin* sparrow* finch* songbird* bough branch branches cherry sakura plum-blossom magnolia vogel-auf kirschblut* cerisier* cerezo* ciliegio ветк* сакур* 桜 梅 花鳥 樱花 벚꽃 نقار زقزوق',
  ],
  ['bough', 0.65, 'bird birds vogel oiseau* pajaro* aves uccell* passar* птиц* 鳥 鸟 새 طيور طائر ציפור ציפורים पक्षी चिड़िया'],
  [
    'river',
    1,
    '*brucke *fluss river* stream brook bridge* pond creek fluss bach brucke* teich riviere* ruisseau pont ponts etang rio puente* arroyo fiume ponte ponti ruscello река реки рек* мост* пруд 川 橋 河 桥 池 강 다리 نهر جسر נהר גשר नदी पुल',
  ],
  [
    'fields',
    1,
    'field fields farm* countryside hill hills valley wheat vineyard* windmill* rural harvest* feld felder acker bauernhof* hugel tal weinberg* windmuhle* champs campagne colline* vallee* moulin* vigne* campo campos colina* valle molino* vinedo* campagna collina vigneto mulino поле поля холм* долин* мельниц* ферм* 畑 田 丘 谷 田野 麦田 山丘 들판 언덕 حقل حقول تل שדה שדות גבעה खेत',
  ],
  [
    'fields',
    0.4,
    'tree trees path road river autumn fall baum baume weg fluss herbst arbre* chemin riviere automne arbol* camino rio otono albero alberi fiume autunno дерев* дорог* рек* осен* 木 川 道 秋 树 나무 강 가을 شجرة نهر خريف עץ נהר סתיו पेड़ नदी balloon* heissluftballon* montgolfiere* globo* mongolfier* 気球 热气球',
  ],
  [
    'stilllife',
    1,
    'still-life stillife stillleben nature-morte bodegon natura-morta natureza-morta натюрморт 静物 정물 vase* fruit fruits apple apples pear pears orange oranges lemon lemons bowl jug table kitchen teapot tea coffee cup bread wine obst apfel birne zitrone* tisch kuche tasse kaffee wein pomme pommes citron* table cuisine vin fruta frutas manzana* mesa cocina taza vino frutta mela mele tavolo cucina tazza фрукт* яблок* ваза стол чай 果物 花瓶 茶 水果 苹果 과일 꽃병 فاكهة مزهرية פירות אגרטל फल फूलदान book books library candle',
  ],
  [
    'abstract',
    1,
    'abstract* abstrakt* abstrait* abstracto* astratt* abstrato* абстракт* 抽象 추상 تجريد מופשט अमूर्त geometry shapes composition kandinsky mondrian',
  ],
]
