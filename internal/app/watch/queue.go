package watch

import (
	"container/heap"
	"time"
)

// queue has items ordered by the time at which they are due. Each item is in it at most
// once, and has its place in the slot.
type queue struct {
	list []*item
	at   func(*item) time.Duration
	slot func(*item) *int // where an item has its place, counted from 1; 0 = not in the queue
}

// put moves an item to its place, or removes it if it is never due.
func (q *queue) put(it *item) {
	switch slot := *q.slot(it); {
	case q.at(it) == never:
		q.drop(it)
	case slot == 0:
		heap.Push(q, it)
	default:
		heap.Fix(q, slot-1)
	}
}

// drop removes an item.
func (q *queue) drop(it *item) {
	if slot := *q.slot(it); slot > 0 {
		heap.Remove(q, slot-1)
	}
}

// next returns when the first item is due.
func (q *queue) next() time.Duration {
	if len(q.list) == 0 {
		return never
	}
	return q.at(q.list[0])
}

// pop removes and returns the first item.
func (q *queue) pop() *item { return heap.Pop(q).(*item) }

// Len implements heap.Interface.
func (q *queue) Len() int { return len(q.list) }

// Less implements heap.Interface.
func (q *queue) Less(i, j int) bool { return q.at(q.list[i]) < q.at(q.list[j]) }

// Swap implements heap.Interface.
func (q *queue) Swap(i, j int) {
	q.list[i], q.list[j] = q.list[j], q.list[i]
	*q.slot(q.list[i]), *q.slot(q.list[j]) = i+1, j+1
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	q.list = append(q.list, x.(*item))
	*q.slot(x.(*item)) = len(q.list)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := q.list[len(q.list)-1]
	q.list[len(q.list)-1] = nil
	q.list = q.list[:len(q.list)-1]
	*q.slot(last) = 0
	return last
}
