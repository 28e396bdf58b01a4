type "t" {
  image = "x"
  env = { "A=B" = "c" }
}
# error 3:9 Invalid env
