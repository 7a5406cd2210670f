/**
 * The numbers themselves: an increment finds its cell by one lookup for each label and adds to it. A library's counter
 * takes ten times as long, which would be more than a refresh may lose.
 */

import type { Bound } from './definitions.ts'

export type Labels = Readonly<Record<string, string | number>>

export interface CounterCell {
  labels: Labels
  value: number
}

export interface HistogramCell {
  labels: Labels
  /** The number of values above the bound before and not above this one; the last is for all larger ones. */
  counts: number[]
  sum: number
}

export interface Cells<Cell> {
  /** The cell of these labels, which is made when it is first asked for. */
  of(labels: Labels): Cell
  all(): Cell[]
}

const OTHER = 'other'

type Level<Cell> = Map<string | number, Level<Cell> | Cell>

export function createCells<Cell>(
  labelNames: readonly string[],
  create: (labels: Labels) => Cell,
  bound?: Bound,
): Cells<Cell> {
  const root: Level<Cell> = new Map()
  const cells: Cell[] = []
  const add = (labels: Labels) => {
    const cell = create(labels)
    cells.push(cell)
    return cell
  }
  // A metric without labels has its one cell from the start, so that it is exposed as 0.
  const only = labelNames.length === 0 ? add({}) : null
  const last = labelNames.length - 1
  const isFull = (labels: Labels) =>
    bound !== undefined && cells.length >= bound.most && labels[bound.label] !== OTHER

  return { of: find, all: () => cells }

  function find(labels: Labels): Cell {
    if (only !== null) return only
    let level = root
    for (let i = 0; i < last; i++) {
      const value = labels[labelNames[i] as string] as string
      let next = level.get(value) as Level<Cell> | undefined
      if (next === undefined) {
        next = new Map()
        level.set(value, next)
      }
      level = next
    }
    const value = labels[labelNames[last] as string] as string
    let cell = level.get(value) as Cell | undefined
    if (cell === undefined) {
      cell = isFull(labels) ? find({ ...labels, [bound?.label as string]: OTHER }) : add(labels)
      level.set(value, cell)
    }
    return cell
  }
}

export function observeIn(cell: HistogramCell, bounds: readonly number[], value: number): void {
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
  cell.counts[bucket] = (cell.counts[bucket] as number) + 1
  cell.sum += value
}
