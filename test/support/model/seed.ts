/** The seed of a model run: `HEADWATER_MODEL_SEED` if it is set, else a new one. It is printed, so that every run can be played again. */
export function modelSeed(): number {
  const given = process.env.HEADWATER_MODEL_SEED
  const seed = given === undefined ? (Math.random() * 0xffff_ffff) >>> 0 : Number(given) >>> 0
  console.info(`HEADWATER_MODEL_SEED=${seed}`)
  return seed
}
