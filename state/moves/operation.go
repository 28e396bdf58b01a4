package moves

import "strings"

// operationMark separates the address of a resource from the name of an operation on it. No address contains it.
const operationMark = " (operation "

// OperationKey returns the key under which a state has the open runs of an operation on a resource.
func OperationKey(addr, name string) string { return addr + operationMark + name + ")" }

// OperationAt returns the resource that a key of a state is about, and the operation on it; "" = it is the key of a resource.
func OperationAt(key string) (addr, operation string) {
	at := strings.LastIndex(key, operationMark)
	if at < 0 || !strings.HasSuffix(key, ")") {
		return key, ""
	}
	return key[:at], key[at+len(operationMark) : len(key)-1]
}
