/** Cities where users live and tweets are geotagged. */
import { zipf } from './random.ts'

export interface City {
  readonly name: string
  readonly country: string
  readonly countryCode: string
  readonly longitude: number
  readonly latitude: number
}

const table = `
New York|United States|US|-73.94|40.66; Tokyo|Japan|JP|139.69|35.69; London|United Kingdom|GB|-0.13|51.51
São Paulo|Brazil|BR|-46.63|-23.55; Los Angeles|United States|US|-118.24|34.05; Jakarta|Indonesia|ID|106.85|-6.21
Istanbul|Türkiye|TR|28.98|41.01; Osaka|Japan|JP|135.5|34.69; Mexico City|Mexico|MX|-99.13|19.43
Buenos Aires|Argentina|AR|-58.38|-34.6; Chicago|United States|US|-87.63|41.88; Riyadh|Saudi Arabia|SA|46.72|24.71
Paris|France|FR|2.35|48.86; Rio de Janeiro|Brazil|BR|-43.17|-22.91; Toronto|Canada|CA|-79.38|43.65
Madrid|Spain|ES|-3.7|40.42; Lagos|Nigeria|NG|3.38|6.52; Manila|Philippines|PH|120.98|14.6
Seoul|South Korea|KR|126.98|37.57; Houston|United States|US|-95.37|29.76; Bogotá|Colombia|CO|-74.07|4.71
Mumbai|India|IN|72.88|19.08; Atlanta|United States|US|-84.39|33.75; Berlin|Germany|DE|13.4|52.52
Santiago|Chile|CL|-70.67|-33.45; Kuala Lumpur|Malaysia|MY|101.69|3.14; Moscow|Russia|RU|37.62|55.76
Caracas|Venezuela|VE|-66.9|10.48; Manchester|United Kingdom|GB|-2.24|53.48; Bandung|Indonesia|ID|107.62|-6.91
Nagoya|Japan|JP|136.91|35.18; Johannesburg|South Africa|ZA|28.05|-26.2; Lima|Peru|PE|-77.04|-12.05
Sydney|Australia|AU|151.21|-33.87; Cairo|Egypt|EG|31.24|30.04; Barcelona|Spain|ES|2.17|41.39
Dallas|United States|US|-96.8|32.78; Delhi|India|IN|77.21|28.61; Kuwait City|Kuwait|KW|47.98|29.38
Philadelphia|United States|US|-75.17|39.95; Ankara|Türkiye|TR|32.85|39.93; Nairobi|Kenya|KE|36.82|-1.29
Melbourne|Australia|AU|144.96|-37.81; Dubai|United Arab Emirates|AE|55.27|25.2; Milan|Italy|IT|9.19|45.46
Fukuoka|Japan|JP|130.4|33.59; Vancouver|Canada|CA|-123.12|49.28; Amsterdam|Netherlands|NL|4.9|52.37
Bangkok|Thailand|TH|100.5|13.76; Lyon|France|FR|4.84|45.76; Porto Alegre|Brazil|BR|-51.23|-30.03
Guadalajara|Mexico|MX|-103.35|20.67; Dublin|Ireland|IE|-6.26|53.35; Surabaya|Indonesia|ID|112.75|-7.26
Lisbon|Portugal|PT|-9.14|38.72; Munich|Germany|DE|11.58|48.14; Sapporo|Japan|JP|141.35|43.06
Stockholm|Sweden|SE|18.07|59.33; Warsaw|Poland|PL|21.01|52.23; Auckland|New Zealand|NZ|174.76|-36.85
Quito|Ecuador|EC|-78.47|-0.18; Cape Town|South Africa|ZA|18.42|-33.92; Vienna|Austria|AT|16.37|48.21
Lahore|Pakistan|PK|74.34|31.55; Glasgow|United Kingdom|GB|-4.25|55.86; Reykjavík|Iceland|IS|-21.9|64.15`

/** Ordered by number of users. */
export const cities: readonly City[] = table
  .split(/[;\n]/)
  .filter((row) => row.trim() !== '')
  .map((row) => {
    const [name = '', country = '', countryCode = '', longitude, latitude] = row.trim().split('|')
    return { name, country, countryCode, longitude: Number(longitude), latitude: Number(latitude) }
  })

export const cityRanks = zipf(cities.length, 3)
