package moves

import (
	"fmt"
	"strconv"
	"strings"
)

// deposedMark separates the address from the number in the key of a deposed entry. No
// address contains it.
const deposedMark = " (deposed "

// DeposedKey returns the key of a deposed entry: the address at which it was recorded,
// and its number.
func DeposedKey(addr string, number int) string {
	return fmt.Sprintf("%s%s%d)", addr, deposedMark, number)
}

// RecordedAt returns the address at which the entry of a key was recorded, and its
// number; 0 = it is not deposed.
func RecordedAt(key string) (addr string, number int) {
	at := strings.LastIndex(key, deposedMark)
	if at < 0 || !strings.HasSuffix(key, ")") {
		return key, 0
	}
	number, err := strconv.Atoi(key[at+len(deposedMark) : len(key)-1])
	if err != nil || number < 1 {
		return key, 0
	}
	return key[:at], number
}

// Depose returns the first free key for a deposed entry of an address that another object
// takes.
func Depose(addr string, taken func(key string) bool) string {
	for i := 1; ; i++ {
		if key := DeposedKey(addr, i); !taken(key) {
			return key
		}
	}
}
