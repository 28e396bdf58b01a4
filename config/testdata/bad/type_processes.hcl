type "t" {
  image = "x"
  processes = 0.5
}
# error 3:15 Invalid processes
