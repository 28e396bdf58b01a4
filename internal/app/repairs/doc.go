// Package repairs owns what a watch does again and again: it reads a manifest with its images and
// its state, queries single resources, and repairs what drifted. It repairs only what is approved, and
// leaves out the rest with its dependants. Commands and sources come in; reports go out.
package repairs
