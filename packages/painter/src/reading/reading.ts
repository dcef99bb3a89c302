export type Subject =
  | 'harbour'
  | 'sea'
  | 'mountains'
  | 'forest'
  | 'city'
  | 'garden'
  | 'lanterns'
  | 'nightsky'
  | 'desert'
  | 'village'
  | 'street'
  | 'bough'
  | 'fields'
  | 'river'
  | 'stilllife'
  | 'abstract'
export type StyleName = 'gouache' | 'paper' | 'riso' | 'woodblock' | 'poster' | 'ink' | 'glass' | 'linocut'
export type Time = 'dawn' | 'day' | 'dusk' | 'night'
export type Weather = 'clear' | 'rain' | 'snow' | 'storm' | 'mist'
/** Things asked for beside the subject. */
export type Extra =
  | 'birds'
  | 'robin'
  | 'moon'
  | 'sun'
  | 'stars'
  | 'lanterns'
  | 'balloon'
  | 'cat'
  | 'house'
  | 'bridge'
  | 'windmill'
  | 'water'
  | 'autumn'
  | 'deer'

/** The content of a prompt, as far as the painter understands it. */
export type Reading = {
  subject: Subject
  time: Time
  weather: Weather
  /** Snow lies. */
  snow: boolean
  style: StyleName
  /** -1 cold, 1 warm. */
  warmth: number
  calm: boolean
  extras: ReadonlySet<Extra>
  flowers: ReadonlySet<string>
}
