package moves

import "iter"

// Unkeyed returns the bytes of an address that are not in its keys, with their positions.
func Unkeyed(addr string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		quoted, depth := false, 0
		for i := 0; i < len(addr); i++ {
			switch c := addr[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '[':
				depth++
			case c == ']':
				depth--
			case depth == 0 && !yield(i, c):
				return
			}
		}
	}
}
