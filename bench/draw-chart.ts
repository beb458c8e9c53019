import { type EChartsOption, init } from 'echarts';

/** A chart, as ECharts describes it. */
export interface Chart {
  title: string;
  option: EChartsOption;
}

const size = { width: 860, height: 420 };

/** Draws a chart as an SVG picture on white, so that it can be read in a light and in a dark page. */
export function drawChart({ title, option }: Chart): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  try {
    const grid = { left: 80, right: 40, top: 90, bottom: 60 };
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      title: { text: title, left: 'center' },
      legend: { top: 40 },
      grid,
      ...option,
    });
    return `${chart.renderToSVGString()}\n`;
  } finally {
    chart.dispose();
  }
}
