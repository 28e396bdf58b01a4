package artifacts

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/pins"
	"deployster/internal/app/versions"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/ui/artifactlines"
	"deployster/plan/artifacts"
)

func list(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 0, 0); err != nil {
		return failed, err
	}
	client, err := pins.OpenVersions(c.Context, s.Engine, s.Inputs)
	if err != nil {
		return failed, err
	}
	found, err := client.List()
	switch {
	case err != nil:
		return failed, err
	case c.Bool("json"):
		return done, s.Out.Document(found)
	case len(found.Artifacts) == 0:
		s.Err.Printf("The manifests here declare no artifacts.\n")
		return done, nil
	}
	rows := [][]string{{"NAME", "IN USE", "PINNED", "FILES", "TYPE"}}
	for _, u := range found.Artifacts {
		pinned, files := "-", "-"
		if u.Pinned != "" {
			pinned = artifactlines.ShortVersion(u.Pin) + " (" + u.Pinned + ")"
		}
		if u.Cached {
			files = words.Count(int(u.Files), "file") + ", " + words.Bytes(u.Bytes)
		}
		rows = append(rows, []string{u.Name, inSpace(u.Space, u.Version), pinned, files, u.Type})
	}
	s.Out.Table("", rows)
	return done, nil
}

// inSpace returns a version with its space; "-" without a version.
func inSpace(space string, v artifact.Version) string {
	switch {
	case v == nil:
		return "-"
	case space == "":
		return artifactlines.ShortVersion(v)
	}
	return artifactlines.ShortVersion(v) + " (space " + diag.Visible(space) + ")"
}

func check(c *cli.Context, s Session) (int, error) {
	client, err := pins.OpenVersions(c.Context, s.Engine, s.Inputs)
	if err != nil {
		return failed, err
	}
	found, err := client.Check(c.Context, c.Args().Slice(), app.DefaultParallelism)
	if err != nil {
		return failed, err
	}
	code := done
	if c.Bool("detailed-exitcode") && slices.ContainsFunc(found.Artifacts, versions.Checked.Moves) {
		code = newer
	}
	if c.Bool("json") {
		return code, s.Out.Document(found)
	}
	if len(found.Artifacts) == 0 {
		s.Err.Printf("The manifests here declare no artifacts that anything uses.\n")
	}
	for _, a := range found.Artifacts {
		printChecked(s, a)
	}
	return code, nil
}

func printChecked(s Session, a versions.Checked) {
	held := ""
	if a.Pinned != "" {
		held = ", pinned (" + a.Pinned + ")"
	}
	newest := inSpace(a.Space, a.Newest)
	switch {
	case a.Newest == nil:
		s.Out.Printf("%s: no listed version has passed\n", diag.Visible(a.Name))
	case a.InUse == nil:
		s.Out.Printf("%s: %s is the newest, and none is in use\n", diag.Visible(a.Name), newest)
	case a.Unlisted:
		s.Out.Printf("%s: %s is the newest; %s, which is in use%s, is no longer listed\n", diag.Visible(a.Name), newest,
			artifactlines.ShortVersion(a.InUse), held)
	case !a.Moves():
		s.Out.Printf("%s: %s is the newest, and in use%s\n", diag.Visible(a.Name), newest, held)
	case a.Newer == 0:
		s.Out.Printf("%s: %s is the newest, %s in use%s\n", diag.Visible(a.Name), newest, artifactlines.ShortVersion(a.InUse), held)
	default:
		s.Out.Printf("%s: %s is the newest, %s newer than %s, which is in use%s\n", diag.Visible(a.Name), newest,
			words.Thousands(a.Newer), artifactlines.ShortVersion(a.InUse), held)
	}
	if a.Waits != nil {
		s.Out.Printf("  %s waits for %s\n", artifactlines.ShortVersion(a.Waits), artifacts.References(a.WaitsFor))
	}
	for _, v := range a.Between {
		s.Out.Printf("  %s\n", described(v))
	}
}

// described returns a version with its metadata.
func described(v versions.Version) string {
	text := diag.Visible(v.Version.String())
	if about := artifactlines.Metadata(v.Metadata); about != "" {
		text += "  " + about
	}
	return text
}

func line(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 1, 1); err != nil {
		return failed, err
	}
	limit := c.Int("limit")
	if limit < 1 {
		return failed, diag.Errorf("Invalid flag value", "-limit must be at least 1.")
	}
	client, err := pins.OpenVersions(c.Context, s.Engine, s.Inputs)
	if err != nil {
		return failed, err
	}
	found, err := client.Versions(c.Context, c.Args().First(), c.String("space"), limit)
	if err != nil {
		return failed, err
	}
	if c.Bool("json") {
		return done, s.Out.Document(found)
	}
	if found.LeftOut > 0 {
		s.Err.Printf("%s older, which -limit leaves out\n", words.Thousands(found.LeftOut))
	}
	for _, v := range found.Versions {
		s.Out.Printf("%s\n", described(v))
	}
	if len(found.Versions) == 0 {
		s.Err.Printf("The image of artifact.%s lists no version.\n", diag.Visible(found.Name))
	}
	return done, nil
}
