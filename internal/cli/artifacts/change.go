package artifacts

import (
	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/app/pins"
	"deployster/internal/app/versions"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/ui/paint"
)

func get(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 2, -1); err != nil {
		return failed, err
	}
	parts, err := versions.ParsePairs(c.Args().Slice()[2:])
	if err != nil {
		return failed, err
	}
	client, err := pins.OpenVersions(c.Context, s.Engine, s.Inputs)
	if err != nil {
		return failed, err
	}
	dir := s.Engine.Workspace.Path(c.Args().Get(1))
	got, err := client.Get(c.Context, c.Args().First(), dir, parts)
	if err != nil {
		return failed, err
	}
	version := inSpace(got.Version.Space, got.Version.Version)
	if got.Newest {
		version += " (the newest; none is in use)"
	}
	s.Out.Printf("%s: %s, %s, %s, in %s\n", diag.Visible(c.Args().First()), version,
		words.Count(int(got.Files), "file"), words.Bytes(got.Bytes), diag.Visible(dir))
	return done, nil
}

func pin(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 1, -1); err != nil {
		return failed, err
	}
	parts, err := versions.ParsePairs(c.Args().Tail())
	if err != nil {
		return failed, err
	}
	lockFile, err := pins.OpenPins(c.Context, s.Engine, s.Inputs, "artifact pin")
	if err != nil {
		return failed, err
	}
	change, err := lockFile.Pin(c.Context, c.Args().First(), parts)
	return changed(s, change, err)
}

func unpin(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 1, 1); err != nil {
		return failed, err
	}
	lockFile, err := pins.OpenPins(c.Context, s.Engine, s.Inputs, "artifact unpin")
	if err != nil {
		return failed, err
	}
	change, err := lockFile.Unpin(c.Args().First())
	return changed(s, change, err)
}

// changed prints the change of a pin.
func changed(s Session, c versions.Change, err error) (int, error) {
	if err != nil {
		return failed, err
	}
	name := diag.Visible(c.Name)
	was, now := c.Texts()
	switch {
	case !c.Moves():
		s.Out.Printf("%s is pinned to %s already.\n", name, now)
		return done, nil
	case c.Now == nil:
		s.Out.Printf("%s %s\n    it was %s\n", paint.Red("-"), name, was)
	case c.Was == nil:
		s.Out.Printf("%s %s = %s\n", paint.Green("+"), name, now)
	default:
		s.Out.Printf("%s %s = %s\n    it was %s\n", paint.Yellow("~"), name, now, was)
	}
	s.Err.Printf("Wrote %s. Keep it under version control.\n", config.LockName)
	return done, nil
}

func prune(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 0, 0); err != nil {
		return failed, err
	}
	files, err := pins.OpenFiles(c.Context, s.Engine)
	if err != nil {
		return failed, err
	}
	defer func() { _ = files.Close() }() // the command holds no artifacts
	removed, err := files.Prune(c.Context, c.Bool("all"))
	bytes := int64(0)
	for _, e := range removed {
		bytes += e.Bytes
		s.Out.Printf("%s %s\n", paint.Red("-"), entry(e))
	}
	if err == nil {
		s.Err.Printf("Removed the files of %s, %s.\n", words.Count(len(removed), "version"), words.Bytes(bytes))
	}
	return done, err
}

// entry returns an entry of the store of artifacts as text for people, without its key: secrets are a part of that.
func entry(e artifact.Entry) string {
	if e.Name == "" {
		return "(unknown)"
	}
	return diag.Visible(e.Name) + " " + inSpace(e.Space, e.Version) + "  " + words.Count(int(e.Files), "file") + ", " + words.Bytes(e.Bytes)
}

func verify(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 0, 0); err != nil {
		return failed, err
	}
	files, err := pins.OpenFiles(c.Context, s.Engine)
	if err != nil {
		return failed, err
	}
	defer func() { _ = files.Close() }() // the command holds no artifacts
	damaged, err := files.Verify(c.Context)
	for _, d := range damaged {
		what := "it is in use, and kept"
		if d.Removed {
			what = "removed"
		}
		s.Out.Printf("%s: %s; %s\n", entry(d.Entry), diag.Visible(d.Reason), what)
	}
	switch {
	case err != nil:
		return failed, err
	case len(damaged) > 0:
		return failed, nil
	}
	kept, err := files.List()
	if err != nil {
		return failed, err
	}
	s.Err.Printf("The files of %s are unchanged.\n", words.Count(len(kept), "version"))
	return done, nil
}
