# error 4:3
plug "a" {
  path    = "/a"
  content = "x"
}
