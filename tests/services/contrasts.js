// Each text on the page: its beginning, its contrast ratio (WCAG 2.1), and whether it counts as large.
const linear = (c) => { c /= 255; return c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
const luminance = (c) => .2126 * linear(c.r) + .7152 * linear(c.g) + .0722 * linear(c.b);
const blend = (over, under) => ({
  r: over.r * over.a + under.r * (1 - over.a), g: over.g * over.a + under.g * (1 - over.a),
  b: over.b * over.a + under.b * (1 - over.a), a: 1});
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const resolve = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return {r, g, b, a: a / 255}; };
const ground = (element) => {
  const layers = [];
  for (let one = element; one; one = one.parentElement) layers.push(resolve(getComputedStyle(one).backgroundColor));
  return layers.reverse().reduce((under, over) => blend(over, under), {r: 255, g: 255, b: 255, a: 1});
};
const found = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.getClientRects().length) continue;
  const style = getComputedStyle(element), back = ground(element);
  const front = blend(resolve(style.color), back);
  const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
  const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
  found.push([element.textContent.trim().slice(0, 40), (light + .05) / (dark + .05), isLarge]);
}
return found;
