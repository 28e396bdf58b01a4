package parallel

// Apart runs f in a goroutine of its own, and waits for its end; if f panicked, Apart then panics
// with its value. It is for goroutines that wait for months, of which there are many: what f needs
// of a stack is given back at its end, and the stack of the goroutine that waits stays small.
func Apart(f func()) {
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		f()
	}()
	if v := <-panicked; v != nil {
		panic(v)
	}
}
