package graph

import (
	"container/heap"
	"deployster/internal/base/natural"
)

// ready is a set of names that returns the first one by name quickly, however many it
// has. It implements heap.Interface.
type ready []string

func (r ready) Len() int           { return len(r) }
func (r ready) Less(i, j int) bool { return natural.Compare(r[i], r[j]) < 0 }
func (r ready) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ready) Push(name any)     { *r = append(*r, name.(string)) }
func (r *ready) Pop() any {
	last := len(*r) - 1
	name := (*r)[last]
	*r = (*r)[:last]
	return name
}

// put adds a name.
func (r *ready) put(name string) { heap.Push(r, name) }

// take removes the first name.
func (r *ready) take() string { return heap.Pop(r).(string) }

// all removes all names and returns them sorted.
func (r *ready) all() []string {
	all := *r
	*r = nil
	natural.Sort(all)
	return all
}
