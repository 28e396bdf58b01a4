package systemd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deployster/machine/internal/access"
)

// Drop-ins are listed by the name of their unit; what is not one of a unit is left out.
func TestDropIn_IsDiscovered(t *testing.T) {
	t.Parallel()
	m := &access.Machine{Root: t.TempDir()}
	for _, path := range []string{"app.service.d/limit.conf", "app.service.d/.hidden.conf", "app.service.d/readme", "my.socket.d/x.conf",
		"plain.d/y.conf", "app.service"} {
		path = filepath.Join(m.Path(unitDir), path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("[Service]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	err := DropIn{control{m}}.Discover(t.Context(), nil, func(c DropInConfig, name string) error {
		found = append(found, c.Unit+" "+c.Name+" "+name+" "+c.Content)
		return nil
	})
	if want := []string{"app limit app_limit [Service]\n", "my.socket x my.socket_x [Service]\n"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v; want %q", found, err, want)
	}
	if err := (DropIn{control{&access.Machine{Root: t.TempDir()}}}).Discover(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
}
