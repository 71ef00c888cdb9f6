import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** How an example of docs/using-the-api.md is run. */
export interface Recipe {
  /** Language of the block. */
  readonly language: string;
  /** What runs it, in PATH. */
  readonly program: string;
  /** What is put before the name of its file. */
  readonly options?: readonly string[];
  /** The name of its file, where the program asks for one. */
  readonly file?: string;
  /** Files that the program needs besides. */
  readonly needs?: readonly string[];
  /** Makes a program of a block that is part of one: it reads a list and writes the largest `categoryId`. */
  readonly whole?: (code: string) => string;
}

/** Where Debian's libjackson2-databind-java is. */
const JARS = ['core', 'databind', 'annotations'].map((part) => `/usr/share/java/jackson-${part}.jar`);

/** The languages whose examples run wherever there is what runs them. */
export const RECIPES: readonly Recipe[] = [
  { language: 'python', program: 'python3' },
  { language: 'ruby', program: 'ruby' },
  { language: 'php', program: 'php' },
  { language: 'perl', program: 'perl' },
  { language: 'go', program: 'go', options: ['run'], file: 'example.go', whole: goProgram },
  {
    language: 'java',
    program: 'java',
    options: ['-cp', JARS.join(':')],
    file: 'Example.java',
    needs: JARS,
    whole: javaProgram,
  },
];

/** Why a recipe cannot be run here; undefined if it can. `path` are the folders of PATH. */
export function whyNot({ program, needs = [] }: Recipe, path: readonly string[]): string | undefined {
  if (!path.some((folder) => existsSync(join(folder, program)))) return `there is no ${program} in PATH`;
  const missing = needs.find((file) => !existsSync(file));
  return missing === undefined ? undefined : `there is no ${missing}`;
}

function goProgram(code: string): string {
  const statements = code.indexOf('\nvar ');
  return `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

${code.slice(0, statements)}
func main() {
	request, _ := http.NewRequest("GET", os.Getenv("API")+"/pets?limit=100", nil)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
	response, failure := http.DefaultClient.Do(request)
	if failure != nil {
		panic(failure)
	}
${code.slice(statements)}
	if err != nil {
		panic(err)
	}
	var largest int64
	for _, pet := range pets {
		if pet.CategoryID > largest {
			largest = pet.CategoryID
		}
	}
	fmt.Println(largest)
}
`;
}

function javaProgram(code: string): string {
  return `import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;

class Example {
  public static void main(String[] arguments) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("API") + "/pets?limit=100"))
        .header("Authorization", "Bearer " + System.getenv("KEY")).build();
    var text = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
${code}
    System.out.println(pets.stream().mapToLong(Pet::categoryId).max().getAsLong());
  }
}
`;
}
