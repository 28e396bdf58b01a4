package reason

// Awaited returns those of the reasons why resources are left that only wait for a version of an artifact: for nothing that
// cannot be reached. What waits for such a resource is among them.
func Awaited(left map[string]*Reason) map[string]*Reason {
	out := map[string]*Reason{}
	for addr, why := range left {
		for root := why; root != nil; root = left[root.Refs[0]] {
			if root.Code == VersionWaits {
				out[addr] = why
			}
			if root.Code != DependencyLeft {
				break
			}
		}
	}
	return out
}
