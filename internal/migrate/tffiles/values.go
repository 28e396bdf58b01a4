package tffiles

// Within returns the state's values for what the blocks contain; all else in the state is computed.
func Within(written, was any) any {
	switch w := written.(type) {
	case map[string]any:
		if list, ok := was.([]any); ok && len(list) == 1 { // one block, which may be an object in the config
			was = list[0]
		}
		own, ok := was.(map[string]any)
		if !ok {
			return written
		}
		out := map[string]any{}
		for name, value := range w {
			if out[name] = value; own[name] != nil {
				out[name] = Within(value, own[name])
			}
		}
		return out
	case []any:
		own, ok := was.([]any)
		if !ok || len(own) != len(w) {
			return written
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = Within(w[i], own[i])
		}
		return out
	}
	return was
}
