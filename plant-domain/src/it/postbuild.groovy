// The build downloads only plant-domain: neither its parent POM nor any other module.
new File(basedir, 'build.log').eachLine {
  assert !it.contains('/org/plantstore/') || it.contains('/org/plantstore/plant-domain/')
}

// Returns a function that checks the first five lines of a program's output, which are the same for all programs, and
// returns the remaining lines.
return { name ->
  def output = new File(basedir, "target/$name").readLines()
  assert output.take(5) == [
      'Plant[name=fern, tag=shade]',
      'Plant[name=moss, tag=null]',
      'org.plantstore.domain.PlantIdTakenException: id 1 is taken by another plant',
      'name must not contain U+0000 (found at index 4)',
      'tag must not contain an unpaired surrogate (found at index 0)']
  output.drop(5)
}
