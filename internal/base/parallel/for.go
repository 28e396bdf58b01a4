package parallel

import (
	"runtime"
	"sync"
)

// least is how many things are worth a goroutine.
const least = 100

// For has do deal with n things, numbered from 0: with those from one number up
// to, and not with, another. Each processor gets a part, and few things are one
// part. It returns when all is done; a panic in a part is one of its own then.
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

// Map returns what of gives for each of a list, in its order. It works as For does.
func Map[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	For(len(list), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = of(list[i])
		}
	})
	return out
}

// TryMap is Map of what may fail. The error is the first in the order of the list.
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
