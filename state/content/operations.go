package content

import (
	"maps"

	"deployster/internal/runtime/runner"
	"deployster/state/moves"
)

// Host returns the machine of what an unsettled key is about, a resource or an operation on it; nil = that of the command.
func (s Snapshot) Host(key string) *runner.Host {
	addr, _ := moves.OperationAt(key)
	return s.Resources[addr].Settings.Host
}

// OpenOperations returns the unsettled keys of the operations on a resource whose outcome is unknown.
func (s Snapshot) OpenOperations(addr string) (keys []string) {
	for _, key := range s.Unknown() {
		if on, operation := moves.OperationAt(key); operation != "" && on == addr {
			keys = append(keys, key)
		}
	}
	return keys
}

// endOperation forgets the runs of an operation when their outcome is known: unlike an action, it needs no VALID.
func (s *Snapshot) endOperation(key string) {
	if _, operation := moves.OperationAt(key); operation != "" && len(s.Unsettled[key].Open()) == 0 {
		delete(s.Unsettled, key)
	}
}

// ForgetOperations forgets the open runs of operations on a resource that is no longer recorded.
func (s *Snapshot) ForgetOperations(addr string) {
	for _, key := range s.OpenOperations(addr) {
		delete(s.Unsettled, key)
	}
}

// movedOperations gives the open runs of operations the new addresses of their resources.
func (s *Snapshot) movedOperations(to map[string]string) {
	was := maps.Clone(s.Unsettled)
	for key, u := range was {
		if addr, operation := moves.OperationAt(key); operation != "" && to[addr] != "" {
			delete(s.Unsettled, key)
			defer func() { s.Unsettled[moves.OperationKey(to[addr], operation)] = u }() // two resources may swap addresses
		}
	}
}
