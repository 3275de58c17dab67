/** Radians between the texts of two numbers that follow each other, in two models. */
export const steps = { first: 0.05, second: -0.07 };

/** A model that maps a text to an angle by the first number in it. */
function model(step) {
  return {
    dimensions: 2,
    fingerprint: `step ${step}`,
    embed: (texts) =>
      texts.map((text) => {
        const angle = step * Number(text.match(/\d+/)?.[0] ?? 0);
        return [Math.cos(angle), Math.sin(angle)];
      }),
  };
}

/** Two models. A text has the score 1 with itself in either of them, and less if one of the vectors is of the other model. */
export const models = { first: model(steps.first), second: model(steps.second) };
