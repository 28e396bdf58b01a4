package parallel

import (
	"runtime"
	"sync"
)

// least is the number of items from which on a goroutine of their own pays off.
const least = 100

// For divides n items, numbered from 0, into parts and calls do for each part, with the
// numbers from <= i < to. Each processor gets a part; few items are one part. It returns
// when all parts are done; if one panicked, For then panics with its value.
func For(n int, do func(from, to int)) {
	parts := max(1, min(runtime.GOMAXPROCS(0), n/least))
	var wait sync.WaitGroup
	panics := make([]any, parts)
	for i := range parts {
		wait.Go(func() {
			defer func() { panics[i] = recover() }()
			do(n*i/parts, n*(i+1)/parts)
		})
	}
	wait.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// Map returns the result of the function of for each element of a list, in order. It works concurrently, like For.
func Map[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	For(len(list), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = of(list[i])
		}
	})
	return out
}

// TryMap is Map for a function that may fail. The error is the first in the order of the list.
func TryMap[T, U any](list []T, of func(T) (U, error)) ([]U, error) {
	failed := make([]error, len(list))
	out := make([]U, len(list))
	For(len(list), func(from, to int) {
		for i := from; i < to; i++ {
			out[i], failed[i] = of(list[i])
		}
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
