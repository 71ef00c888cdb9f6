// Bare Express 5, which sends constants with res.json(): lists of 20 and of 100 animals, and a single animal.
import express from 'express';

const pet = (id) => ({ id, name: `Biscuit ${id}`, categoryId: 1, status: 'available' });
const pets = (count) => Array.from({ length: count }, (_, index) => pet(index + 1));
const [twenty, hundred, one] = [pets(20), pets(100), pet(1)];

const app = express();
app.get('/v1/pets', (request, response) => response.json(request.query.limit === '100' ? hundred : twenty));
app.get('/v1/pets/:petId', (_request, response) => response.json(one));
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
